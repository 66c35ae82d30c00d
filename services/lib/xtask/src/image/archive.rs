//! An image in one file: an OCI image layout in a tar, which containerd, podman, skopeo, kind and k3d read; with the list
//! that `docker load` wants beside it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tar::EntryType;

use super::layer::{Blob, Layer, add, digest};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// Only to read and to write over: it is no part of an image.
const FILE_MODE: u32 = 0o644;

/// An image in one file.
pub(super) struct Archive {
    /// Of the manifest: the digest under which registries and nodes know the image.
    pub(super) digest: String,
    pub(super) bytes: Vec<u8>,
}

/// Puts an image together.
///
/// `name` is what it is called where it is loaded, as `abisu/ingest:0.1.0`; `config` is the OCI configuration without
/// its `rootfs`; the annotations are of the manifest. The same input gives the same bytes.
///
/// # Errors
/// A tar cannot be written.
pub(super) fn write(
    name: &str,
    platform: &Value,
    mut config: Value,
    annotations: &BTreeMap<&str, String>,
    layers: &[&Layer],
) -> anyhow::Result<Archive> {
    config["rootfs"] = json!({
        "type": "layers",
        "diff_ids": layers.iter().map(|layer| &layer.diff_id).collect::<Vec<_>>(),
    });
    let config = Blob::new(serde_json::to_vec(&config)?);
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": descriptor(CONFIG, &config),
        "layers": layers.iter().map(|layer| descriptor(LAYER, &layer.blob)).collect::<Vec<_>>(),
        "annotations": annotations,
    });
    let manifest = Blob::new(serde_json::to_vec(&manifest)?);
    let full = full_name(name);
    let mut entry = descriptor(MANIFEST, &manifest);
    entry["platform"] = platform.clone();
    entry["annotations"] = json!({
        "io.containerd.image.name": full,
        "org.opencontainers.image.ref.name": full.rsplit_once(':').map_or(full.as_str(), |(_, tag)| tag),
    });
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]});
    let docker = json!([{
        "Config": path(&config.digest),
        "RepoTags": [name],
        "Layers": layers.iter().map(|layer| path(&layer.blob.digest)).collect::<Vec<_>>(),
    }]);

    let mut archive = tar::Builder::new(Vec::new());
    let mut file = |path: &str, bytes: &[u8]| add(&mut archive, path, EntryType::Regular, FILE_MODE, bytes);
    file("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)?;
    file("index.json", &serde_json::to_vec(&index)?)?;
    file("manifest.json", &serde_json::to_vec(&docker)?)?;
    // By digest, each once, should two layers be the same.
    let blobs = layers.iter().map(|layer| &layer.blob).chain([&config, &manifest]);
    let blobs: BTreeMap<String, &Blob> = blobs.map(|blob| (path(&blob.digest), blob)).collect();
    for (path, blob) in &blobs {
        file(path, &blob.bytes)?;
    }
    Ok(Archive { digest: digest(&manifest.bytes), bytes: archive.into_inner()? })
}

fn descriptor(media_type: &str, blob: &Blob) -> Value {
    json!({"mediaType": media_type, "digest": blob.digest, "size": blob.bytes.len()})
}

fn path(digest: &str) -> String {
    format!("blobs/{}", digest.replace(':', "/"))
}

/// The name as nodes spell it: one without a host is of docker.io.
pub(super) fn full_name(name: &str) -> String {
    let (first, rest) = name.split_once('/').unwrap_or(("", name));
    let is_host = first.contains(['.', ':']) || first == "localhost";
    match first {
        _ if is_host => name.to_owned(),
        "" => format!("docker.io/library/{rest}"),
        _ => format!("docker.io/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use oci_spec::image::{ImageConfiguration, ImageIndex, ImageManifest, MediaType, OciLayout};

    use super::super::layer::{File, pack};
    use super::*;

    fn archive(name: &str) -> Archive {
        let of = |path, text: &str| {
            pack(&BTreeMap::from([(path, File { mode: 0o755, bytes: text.as_bytes().to_vec() })])).unwrap()
        };
        let layers = [of("/etc/roots", "pem"), of("/usr/local/bin/ingest", "elf")];
        let config = json!({"architecture": "amd64", "os": "linux", "config": {"User": "65532:65532"}});
        let annotations = BTreeMap::from([("org.opencontainers.image.version", "0.1.0".to_owned())]);
        write(
            name,
            &json!({"architecture": "amd64", "os": "linux"}),
            config,
            &annotations,
            &layers.each_ref(),
        )
        .unwrap()
    }

    fn files(archive: &Archive) -> BTreeMap<String, Vec<u8>> {
        let mut reader = tar::Archive::new(&archive.bytes[..]);
        let entries = reader.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            assert_eq!((entry.header().uid().unwrap(), entry.header().mtime().unwrap()), (0, 0));
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            (entry.path().unwrap().display().to_string(), bytes)
        });
        entries.collect()
    }

    #[test]
    fn another_implementation_of_the_specification_reads_what_is_written() {
        let archive = archive("abisu/ingest:0.1.0");
        let files = files(&archive);
        let layout: OciLayout = serde_json::from_slice(&files["oci-layout"]).unwrap();
        assert_eq!(layout.image_layout_version(), "1.0.0");
        let index = ImageIndex::from_reader(&files["index.json"][..]).unwrap();
        let [entry] = &index.manifests()[..] else { panic!("one manifest") };
        assert_eq!(entry.digest().to_string(), archive.digest);
        let names = entry.annotations().clone().unwrap();
        assert_eq!(names["io.containerd.image.name"], "docker.io/abisu/ingest:0.1.0");
        assert_eq!(names["org.opencontainers.image.ref.name"], "0.1.0");

        let blob = |digest: &str| &files[&path(digest)];
        let manifest = ImageManifest::from_reader(&blob(&archive.digest)[..]).unwrap();
        assert_eq!(manifest.media_type().as_ref(), Some(&MediaType::ImageManifest));
        let config = ImageConfiguration::from_reader(&blob(manifest.config().digest().as_ref())[..]).unwrap();
        assert_eq!(config.config().as_ref().unwrap().user().as_deref(), Some("65532:65532"));
        assert_eq!(manifest.layers().len(), 2);
        for (layer, diff_id) in manifest.layers().iter().zip(config.rootfs().diff_ids()) {
            assert_eq!(layer.media_type(), &MediaType::ImageLayerGzip);
            let bytes = blob(layer.digest().as_ref());
            assert_eq!((digest(bytes), bytes.len() as u64), (layer.digest().to_string(), layer.size()));
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut unpacked).unwrap();
            assert_eq!(&digest(&unpacked), diff_id, "the layers stand in the order in which they are laid");
        }
        let docker: Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
        assert_eq!(docker[0]["RepoTags"], json!(["abisu/ingest:0.1.0"]));
        assert!(
            docker[0]["Layers"].as_array().unwrap().iter().all(|p| files.contains_key(p.as_str().unwrap()))
        );
    }

    #[test]
    fn the_same_image_is_the_same_file_and_its_name_is_no_part_of_its_digest() {
        let (one, again, renamed) =
            (archive("abisu/ingest:0.1.0"), archive("abisu/ingest:0.1.0"), archive("other/ingest:7"));
        assert_eq!(one.bytes, again.bytes);
        assert_eq!(one.digest, renamed.digest);
    }

    #[test]
    fn a_name_without_a_host_is_of_the_hub() {
        for (name, full) in [
            ("abisu/ingest:0.1.0", "docker.io/abisu/ingest:0.1.0"),
            ("ingest:0.1.0", "docker.io/library/ingest:0.1.0"),
            ("registry.example/abisu/ingest:1", "registry.example/abisu/ingest:1"),
            ("localhost/ingest:1", "localhost/ingest:1"),
            ("registry:5000/ingest:1", "registry:5000/ingest:1"),
        ] {
            assert_eq!(full_name(name), full);
        }
    }
}
