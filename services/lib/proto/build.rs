//! Generates the gRPC code: the only code generation of the workspace. The compiler is written in Rust, so that a
//! fresh machine needs no `protoc`.

use std::error::Error;
use std::path::PathBuf;

use prost::Message;

/// Every file of the folder `proto`, by its path there.
const FILES: [&str; 1] = ["geocode/v1/geocode.proto"];

fn main() -> Result<(), Box<dyn Error>> {
    let root = "../../../proto";
    println!("cargo::rerun-if-changed={root}");
    let descriptors = protox::compile(FILES, [root])?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is set by cargo")?);
    std::fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
