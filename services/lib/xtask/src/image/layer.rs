//! A layer of an image: a few files in a tar, compressed, the same bytes from the same files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anyhow::{Context, ensure};
use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use tar::{EntryType, Header};

/// Bytes with their name in an image: `sha256:` and the hash in hex.
pub(super) struct Blob {
    pub(super) digest: String,
    pub(super) bytes: Vec<u8>,
}

impl Blob {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { digest: digest(&bytes), bytes }
    }
}

/// A layer: what is shipped, and the digest of what it unpacks to.
pub(super) struct Layer {
    pub(super) blob: Blob,
    pub(super) diff_id: String,
}

/// A file in a layer.
pub(super) struct File {
    /// Permissions, as 0o755.
    pub(super) mode: u32,
    pub(super) bytes: Vec<u8>,
}

/// Packs files by their absolute paths, all of root, none with a time, in the order of their paths, with the folders
/// above them.
///
/// # Errors
/// A path is not absolute, or too long for a tar.
pub(super) fn pack(files: &BTreeMap<&str, File>) -> anyhow::Result<Layer> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut folders = BTreeSet::new();
    for (path, file) in files {
        let path = path.strip_prefix('/').with_context(|| format!("{path} is not absolute"))?;
        ensure!(!path.split('/').any(|part| matches!(part, "" | "." | "..")), "{path} is not plain");
        for (end, _) in path.match_indices('/') {
            if folders.insert(&path[..end]) {
                add(&mut archive, &format!("{}/", &path[..end]), EntryType::Directory, 0o755, &[])?;
            }
        }
        add(&mut archive, path, EntryType::Regular, file.mode, &file.bytes)?;
    }
    let unpacked = archive.into_inner()?;
    // Without name and time; the field for the system says "unknown".
    let mut packer = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    packer.write_all(&unpacked)?;
    Ok(Layer { diff_id: digest(&unpacked), blob: Blob::new(packer.finish()?) })
}

/// Adds an entry that says nothing about who made it, where and when.
pub(super) fn add(
    archive: &mut tar::Builder<Vec<u8>>,
    path: &str,
    kind: EntryType,
    mode: u32,
    bytes: &[u8],
) -> anyhow::Result<()> {
    let mut header = Header::new_ustar();
    header.set_path(path).with_context(|| format!("{path} does not fit into a tar"))?;
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    Ok(archive.append(&header, bytes)?)
}

/// `sha256:` and the hash in hex.
pub(super) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn file(mode: u32, text: &str) -> File {
        File { mode, bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn a_layer_holds_its_files_below_their_folders_and_nothing_of_this_machine() {
        let files = BTreeMap::from([
            ("/usr/local/bin/ingest", file(0o755, "elf")),
            ("/etc/ssl/certs/roots.crt", file(0o644, "pem")),
            ("/etc/ssl/openssl.cnf", file(0o644, "")),
        ]);
        let layer = pack(&files).unwrap();
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&layer.blob.bytes[..]).read_to_end(&mut unpacked).unwrap();
        assert_eq!(digest(&unpacked), layer.diff_id);
        let mut archive = tar::Archive::new(&unpacked[..]);
        let mut seen = Vec::new();
        for entry in archive.entries().unwrap() {
            let entry = entry.unwrap();
            let header = entry.header();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap()), (0, 0, 0));
            let path = entry.path().unwrap().display().to_string();
            seen.push((path, header.mode().unwrap(), header.entry_type().is_dir()));
        }
        let expected = [
            ("etc/", 0o755, true),
            ("etc/ssl/", 0o755, true),
            ("etc/ssl/certs/", 0o755, true),
            ("etc/ssl/certs/roots.crt", 0o644, false),
            ("etc/ssl/openssl.cnf", 0o644, false),
            ("usr/", 0o755, true),
            ("usr/local/", 0o755, true),
            ("usr/local/bin/", 0o755, true),
            ("usr/local/bin/ingest", 0o755, false),
        ];
        let expected = expected.map(|(path, mode, folder)| (path.to_owned(), mode, folder));
        assert_eq!(seen, expected);
        assert_eq!(pack(&files).unwrap().blob.digest, layer.blob.digest, "the same again");
    }

    #[test]
    fn a_path_that_could_leave_the_image_is_refused() {
        for path in ["etc/passwd", "/etc/../passwd", "//etc", "/etc/"] {
            assert!(pack(&BTreeMap::from([(path, file(0o644, ""))])).is_err(), "{path}");
        }
    }
}
