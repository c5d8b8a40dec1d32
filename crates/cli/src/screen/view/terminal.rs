//! The terminal of a view. Its other screen is used, keys are read one by one, and everything is put back when the view is
//! closed, however that comes about: the end, Ctrl-C, an error or a panic.
//!
//! The few sequences are written here rather than by a crate: those for whole-screen programs also take over Ctrl-C, and
//! here it must stay the signal that the coordinator stops on.

use std::io::{IsTerminal, Read, Write};
use std::sync::{Mutex, PoisonError};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

/// To the other screen, without a cursor.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[2J";
/// Back, with the cursor.
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";

/// How the terminal was before; a panic puts it back too.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// What a reader pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPress {
    Quit,
    Up,
    Down,
}

/// A terminal that shows its other screen until this is dropped.
pub struct Terminal<W: Write> {
    out: W,
    last: (usize, usize),
}

impl<W: Write> Terminal<W> {
    /// Turns to the other screen.
    pub fn enter(mut out: W) -> std::io::Result<Terminal<W>> {
        read_single_keys();
        restore_on_panic();
        out.write_all(ENTER.as_bytes())?;
        out.flush()?;
        Ok(Terminal { out, last: (0, 0) })
    }

    /// Columns and rows.
    pub fn size() -> (usize, usize) {
        let size = terminal_size::terminal_size_of(std::io::stderr());
        size.map_or((80, 24), |(width, height)| (usize::from(width.0), usize::from(height.0)))
    }

    /// Draws lines from the top; what was there before is gone.
    pub fn draw(&mut self, lines: impl Iterator<Item = String>, size: (usize, usize)) {
        let mut text = String::from(if self.last == size { "\u{1b}[H" } else { "\u{1b}[2J\u{1b}[H" });
        self.last = size;
        for (index, line) in lines.take(size.1).enumerate() {
            if index > 0 {
                text.push_str("\r\n");
            }
            text.push_str(&line);
            text.push_str("\u{1b}[K");
        }
        text.push_str("\u{1b}[J");
        // A view that cannot be drawn is no reason to stop measuring.
        let _ = self.out.write_all(text.as_bytes());
        let _ = self.out.flush();
    }

    /// The keys that were pressed since the last look.
    pub fn keys(&self) -> Vec<KeyPress> {
        if BEFORE.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            return Vec::new();
        }
        let mut bytes = [0u8; 64];
        // Reading gives nothing at once where nothing was pressed.
        let count = std::io::stdin().read(&mut bytes).unwrap_or(0);
        keys(bytes.get(..count).unwrap_or_default())
    }
}

/// Bytes of a terminal to keys; others are ignored.
fn keys(bytes: &[u8]) -> Vec<KeyPress> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match (first, behind) {
            (0x1b, [b'[', b'A', after @ ..]) => (found.push(KeyPress::Up), rest = after).1,
            (0x1b, [b'[', b'B', after @ ..]) => (found.push(KeyPress::Down), rest = after).1,
            (b'q', _) => found.push(KeyPress::Quit),
            (b'k', _) => found.push(KeyPress::Up),
            (b'j', _) => found.push(KeyPress::Down),
            _ => {}
        }
    }
    found
}

impl<W: Write> Drop for Terminal<W> {
    fn drop(&mut self) {
        let _ = self.out.write_all(LEAVE.as_bytes());
        let _ = self.out.flush();
        give_back();
    }
}

/// Keys are read without Enter and are not echoed. Ctrl-C stays a signal; Ctrl-Z does nothing, because it would leave the
/// other screen behind.
fn read_single_keys() {
    let stdin = std::io::stdin();
    let Some(before) = stdin.is_terminal().then(|| tcgetattr(&stdin).ok()).flatten() else { return };
    let mut modes = before.clone();
    modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    modes.special_codes[SpecialCodeIndex::VMIN] = 0;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    modes.special_codes[SpecialCodeIndex::VSUSP] = 0;
    if tcsetattr(&stdin, OptionalActions::Now, &modes).is_ok() {
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    }
}

fn give_back() {
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &before);
    }
}

/// A panic is reported on the screen that stays.
fn restore_on_panic() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if BEFORE.try_lock().is_ok_and(|before| before.is_some()) {
                let _ = std::io::stderr().write_all(LEAVE.as_bytes());
                give_back();
            }
            usual(panic);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Shared(std::sync::Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_leaves_the_screen_as_it_was() {
        let out = Shared::default();
        let inside = out.clone();
        let result = std::panic::catch_unwind(move || {
            let mut terminal = Terminal::enter(inside).unwrap();
            terminal.draw(["one".to_owned()].into_iter(), (80, 24));
            panic!("on purpose");
        });
        assert!(result.is_err());
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        assert!(text.starts_with(ENTER) && text.contains("one") && text.ends_with(LEAVE), "{text:?}");
    }

    #[test]
    fn arrows_and_letters_are_keys() {
        assert_eq!(
            keys(b"\x1b[Aj\x1b[Bkxq"),
            [KeyPress::Up, KeyPress::Down, KeyPress::Down, KeyPress::Up, KeyPress::Quit]
        );
        assert_eq!(keys(b"\x1b[\x1b"), []);
    }
}
