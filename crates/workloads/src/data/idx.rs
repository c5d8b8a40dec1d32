//! The format of the files of MNIST: a magic number, the sizes of all dimensions (32 bits each, most significant byte
//! first), the elements.

/// Rows and columns of an image.
pub const SIDE: usize = 28;
/// Pixels of an image.
pub const PIXELS: usize = SIDE * SIDE;
/// Classes of labels.
pub const CLASSES: usize = 10;

const MAGIC_IMAGES: u32 = 0x0803;
const MAGIC_LABELS: u32 = 0x0801;

/// The pixels of all images of a file, image after image; an error says what is wrong.
pub fn images(bytes: &[u8]) -> Result<&[u8], String> {
    let ([count, rows, columns], pixels) = header::<3>(bytes, MAGIC_IMAGES, "images")?;
    if [rows, columns] != [SIDE as u64; 2] {
        return Err(format!("its images have {rows} x {columns} pixels, not {SIDE} x {SIDE}"));
    }
    whole(pixels, count, PIXELS, "image")?;
    Ok(pixels)
}

/// The labels of a file; an error says what is wrong.
pub fn labels(bytes: &[u8]) -> Result<&[u8], String> {
    let ([count], labels) = header::<1>(bytes, MAGIC_LABELS, "labels")?;
    whole(labels, count, 1, "label")?;
    match labels.iter().position(|label| usize::from(*label) >= CLASSES) {
        Some(place) => {
            Err(format!("label {} of image {place} is not from 0 to {}", labels[place], CLASSES - 1))
        }
        None => Ok(labels),
    }
}

/// The sizes of the dimensions, and what follows them.
fn header<'a, const DIMENSIONS: usize>(
    bytes: &'a [u8],
    magic: u32,
    what: &str,
) -> Result<([u64; DIMENSIONS], &'a [u8]), String> {
    let words = bytes.as_chunks::<4>().0;
    let word = |place: usize| words.get(place).map(|word| u32::from_be_bytes(*word));
    match word(0) {
        None => return Err(format!("it has {} bytes, and its header alone has more", bytes.len())),
        Some(found) if found != magic => {
            return Err(format!("not a file of {what}: it begins with {found:#010x}, not {magic:#010x}"));
        }
        Some(_) => {}
    }
    let length = 4 * (1 + DIMENSIONS);
    let Some(rest) = bytes.get(length..) else {
        return Err(format!("it ends within its header, after {} bytes", bytes.len()));
    };
    let mut sizes = [0; DIMENSIONS];
    for (place, size) in sizes.iter_mut().enumerate() {
        *size = u64::from(word(1 + place).unwrap_or(0));
    }
    Ok((sizes, rest))
}

/// Whether there are as many elements as the header says.
fn whole(elements: &[u8], count: u64, each: usize, what: &str) -> Result<(), String> {
    if count == 0 {
        return Err(format!("it holds no {what}"));
    }
    let expected = u128::from(count) * each as u128;
    match elements.len() as u128 {
        length if length < expected => Err(format!(
            "it is cut off: {count} {what}s take {expected} bytes after the header, and {length} are there"
        )),
        length if length > expected => {
            Err(format!("{count} {what}s take {expected} bytes after the header, and {length} are there"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(magic: u32, sizes: &[u32], length: usize) -> Vec<u8> {
        let header = [&[magic], sizes].concat().into_iter().flat_map(u32::to_be_bytes);
        header.chain(vec![3; length]).collect()
    }

    #[test]
    fn whole_files_are_read() {
        assert_eq!(images(&file(MAGIC_IMAGES, &[2, 28, 28], 2 * PIXELS)).unwrap().len(), 2 * PIXELS);
        assert_eq!(labels(&file(MAGIC_LABELS, &[3], 3)).unwrap(), [3; 3]);
    }

    #[test]
    fn what_is_wrong_is_reported() {
        let wrong_images = |bytes: &[u8], words: &str| {
            let error = images(bytes).unwrap_err();
            assert!(error.contains(words), "{error}");
        };
        wrong_images(&[], "header");
        wrong_images(&[0, 0, 8], "header");
        wrong_images(&file(MAGIC_LABELS, &[2], 2), "0x00000801");
        wrong_images(&file(MAGIC_IMAGES, &[2, 28], 0), "within its header");
        wrong_images(&file(MAGIC_IMAGES, &[2, 27, 28], 2 * PIXELS), "27 x 28");
        wrong_images(&file(MAGIC_IMAGES, &[2, 28, 28], 2 * PIXELS - 1), "cut off");
        wrong_images(&file(MAGIC_IMAGES, &[2, 28, 28], 2 * PIXELS + 1), "2 images take");
        wrong_images(&file(MAGIC_IMAGES, &[u32::MAX, 28, 28], 5), "cut off");
        wrong_images(&file(MAGIC_IMAGES, &[0, 28, 28], 0), "no image");
        let mut bytes = file(MAGIC_LABELS, &[3], 3);
        bytes[9] = 10;
        assert!(labels(&bytes).unwrap_err().contains("label 10 of image 1"));
        assert!(labels(b"\x1f\x8b\x08\x00").unwrap_err().contains("not a file of labels"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64), magic: bool) {
            let start = if magic { MAGIC_LABELS } else { MAGIC_IMAGES }.to_be_bytes();
            let _ = images(&bytes);
            let _ = labels(&[&start[..], &bytes].concat());
            let _ = images(&[&start[..], &bytes].concat());
        }
    }
}
