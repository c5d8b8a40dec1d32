//! A real sshd on loopback, with keys of its own.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that lives as long as the test.
pub struct Server {
    daemon: Child,
    directory: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        // The connection that is shared must not outlive the test.
        let control = format!("ControlPath={}/assay-%C", self.directory.display());
        let mut close = Command::new(self.directory.join("bin/ssh"));
        let _ = close.args(["-o", &control, "-O", "exit", "there-host"]).stderr(Stdio::null()).status();
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// Starts it for a directory whose `bin` comes first on the PATH: the `ssh` there reaches it as `there-host`. Commands on
/// that host have one more variable, as `NAME=value`. `XDG_RUNTIME_DIR` is the directory.
pub fn serve(directory: &Path, variable: &str) -> Server {
    let (own, bin) = (directory.join("ssh"), directory.join("bin"));
    std::fs::create_dir(&own).unwrap();
    std::fs::create_dir_all(&bin).unwrap();
    for key in ["host", "user"] {
        let mut make = Command::new("ssh-keygen");
        make.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(own.join(key));
        assert!(make.status().unwrap().success());
    }
    std::fs::copy(own.join("user.pub"), own.join("authorized")).unwrap();
    let shown = own.display();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let configuration = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {shown}/host\nAuthorizedKeysFile {shown}/authorized\n\
         StrictModes no\nPidFile none\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n\
         SetEnv {variable}\n"
    );
    std::fs::write(own.join("sshd_config"), configuration).unwrap();
    let client = format!(
        "Host there-host\n HostName 127.0.0.1\n Port {port}\n IdentityFile {shown}/user\n IdentitiesOnly yes\n \
         StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n"
    );
    std::fs::write(own.join("config"), client).unwrap();
    let program = bin.join("ssh");
    std::fs::write(&program, format!("#!/bin/sh\nexec /usr/bin/ssh -F {shown}/config \"$@\"\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir_all("/run/sshd").unwrap();
    let mut daemon = Command::new("/usr/sbin/sshd");
    let daemon = daemon.args(["-D", "-e", "-f"]).arg(own.join("sshd_config")).stderr(Stdio::null()).spawn();
    let server = Server { daemon: daemon.unwrap(), directory: directory.to_owned() };
    let began = std::time::Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(began.elapsed() < Duration::from_secs(20), "sshd did not start");
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}
