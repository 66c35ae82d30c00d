//! What samples come to.

/// The value below which a share of the samples lies; in their unit. Sorts them.
pub(crate) fn percentile(samples: &mut [f64], share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    // Samples are far fewer than 2^52.
    let place = (samples.len() as f64 * share) as usize;
    samples.get(place.min(samples.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}
