//! Providers' payloads in and out, and the normalised message.
