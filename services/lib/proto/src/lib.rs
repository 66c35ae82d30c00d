//! Generated gRPC code of the services, by package. The source, with the meaning of every field, is the folder
//! `proto` at the root.
#![deny(missing_docs)]

/// The package `geocode`.
pub mod geocode {
    /// Typed addresses to points, and the coverage gate.
    #[expect(clippy::allow_attributes_without_reason, reason = "generated")]
    pub mod v1 {
        tonic::include_proto!("geocode.v1");
    }
}

/// Every message and service, encoded as a `FileDescriptorSet`, for gRPC reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
