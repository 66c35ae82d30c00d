//! Points in WGS 84, with named axes.

use crate::Error;

/// Mean radius of the earth in metres.
const EARTH: f64 = 6_371_008.8;

/// A point on the earth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
}

impl Point {
    /// Checks that both are degrees. Whether a point lies somewhere sensible is the service area's business.
    ///
    /// # Errors
    /// Not a number, or out of range.
    pub fn new(latitude: f64, longitude: f64) -> Result<Self, Error> {
        // The ranges are false for what is not a number, too.
        if !(-90.0..=90.0).contains(&latitude) {
            return Err(Error::invalid("latitude", "must be degrees from -90 to 90"));
        }
        if !(-180.0..=180.0).contains(&longitude) {
            return Err(Error::invalid("longitude", "must be degrees from -180 to 180"));
        }
        Ok(Self { latitude, longitude })
    }

    /// Zero, zero: how providers say that they know no point.
    pub(crate) fn is_null(self) -> bool {
        self.latitude == 0.0 && self.longitude == 0.0
    }

    /// Metres to another point along the surface.
    pub fn metres_to(self, other: Self) -> f64 {
        let (north, south) = (self.latitude.to_radians(), other.latitude.to_radians());
        let half = ((north - south) / 2.0).sin().powi(2);
        let across = ((self.longitude - other.longitude).to_radians() / 2.0).sin().powi(2);
        2.0 * EARTH * (half + north.cos() * south.cos() * across).sqrt().min(1.0).asin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_metres() {
        let square = Point::new(42.8467, -2.6727).unwrap();
        let house = Point::new(42.84701, -2.67246).unwrap();
        let metres = square.metres_to(house);
        assert!((35.0..42.0).contains(&metres), "{metres}");
        assert!(square.metres_to(square) < 1e-6);
    }

    #[test]
    fn what_is_no_degree_is_no_point() {
        for (latitude, longitude) in [(f64::NAN, 0.0), (0.0, f64::INFINITY), (90.1, 0.0), (0.0, -180.5)] {
            assert!(Point::new(latitude, longitude).is_err());
        }
    }
}
