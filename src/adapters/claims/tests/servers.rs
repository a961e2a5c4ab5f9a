//! Remotes as git serves them: over git's own protocol, and over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Beside;

/// A port that nobody listens on.
pub(super) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Serves the repositories below this folder by `git daemon`; the beginning of their addresses. None where it is missing.
pub(super) fn daemon(folder: &Path) -> Option<(Beside, String)> {
    let port = free_port();
    let script = format!(
        "exec \"$(git --exec-path)/git-daemon\" --listen=127.0.0.1 --port={port} --base-path=. --export-all \
         --enable=receive-pack --reuseaddr 2>/dev/null"
    );
    let daemon = Beside::new(folder, &script);
    let end = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > end {
            return None;
        }
        thread::yield_now();
    }
    Some((daemon, format!("git://127.0.0.1:{port}")))
}

/// Serves them by `git http-backend`, for as long as the test process lives. None where it is missing.
pub(super) fn http(folder: &Path) -> Option<String> {
    let path = Command::new("git").arg("--exec-path").output().ok()?;
    let backend = Path::new(String::from_utf8_lossy(&path.stdout).trim()).join("git-http-backend");
    if !backend.exists() {
        return None;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let folder = folder.to_owned();
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let (backend, folder) = (backend.clone(), folder.clone());
            thread::spawn(move || answer(&connection, &backend, &folder));
        }
    });
    Some(address)
}

/// One request, as CGI wants it, and its answer.
fn answer(connection: &TcpStream, backend: &Path, folder: &Path) -> Option<()> {
    let mut reader = BufReader::new(connection);
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().map(|_| line.trim_end().to_owned())
    };
    let first = line()?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut command = Command::new(backend);
    command.env("GIT_PROJECT_ROOT", folder).env("GIT_HTTP_EXPORT_ALL", "1").env("REMOTE_USER", "somebody");
    command.env("REQUEST_METHOD", method).env("PATH_INFO", path).env("QUERY_STRING", query);
    let mut length = 0;
    loop {
        let header = line()?;
        let Some((name, value)) = header.split_once(": ") else { break };
        match name.to_lowercase().as_str() {
            "content-length" => {
                length = value.parse().ok()?;
                command.env("CONTENT_LENGTH", value);
            }
            "content-type" => drop(command.env("CONTENT_TYPE", value)),
            "content-encoding" => drop(command.env("HTTP_CONTENT_ENCODING", value)),
            "git-protocol" => drop(command.env("GIT_PROTOCOL", value)),
            "transfer-encoding" => return None,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut input = child.stdin.take()?;
    let writing = thread::spawn(move || drop(input.write_all(&body)));
    let output = child.wait_with_output().ok()?.stdout;
    writing.join().ok()?;
    let end = output.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let mut connection = connection;
    write!(connection, "HTTP/1.1 {status}\r\nConnection: close\r\n{head}\r\n\r\n").ok()?;
    connection.write_all(&output[end + 4..]).ok()
}
