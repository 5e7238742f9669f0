//! What is made from declarations is what they make now.

use std::process::Command;

#[test]
fn generated_files_are_up_to_date() {
    let ended = Command::new(env!("CARGO_BIN_EXE_bufferlab-dev"))
        .args(["generate-all", "--check"])
        .output()
        .expect("cargo has built it");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}
