//! Whether the city serves a point. The newest version of each service area decides, the border is inside, and every
//! answer names the version, so that a decision can be understood after the area has changed.

use sqlx::PgPool;

use crate::{Error, Point};

/// The area and version that covers a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// The area.
    pub id: String,
    /// Its version.
    pub version: i32,
}

/// Where a point lies.
#[derive(Debug, Clone, PartialEq)]
pub struct Covered {
    /// The area that covers the point, or the nearest one.
    pub area: Area,
    /// Metres to that area; `None` inside.
    pub outside_by: Option<f64>,
}

/// Where one point lies.
///
/// # Errors
/// No area is loaded, or the database is away.
pub async fn covers(pool: &PgPool, point: Point) -> Result<Covered, Error> {
    let row = sqlx::query_file!("src/store/covers_point.sql", point.latitude, point.longitude)
        .fetch_optional(pool)
        .await?
        .ok_or(Error::NoArea)?;
    let area = Area { id: row.area_id, version: row.version };
    Ok(Covered { area, outside_by: (!row.inside).then_some(row.metres) })
}

/// The areas that cover points, in their order; `None` for a point that no area covers.
///
/// # Errors
/// No area is loaded, or the database is away.
pub async fn cover(pool: &PgPool, points: &[Point]) -> Result<Vec<Option<Area>>, Error> {
    if points.is_empty() {
        return Ok(Vec::new());
    }
    let latitudes: Vec<f64> = points.iter().map(|point| point.latitude).collect();
    let longitudes: Vec<f64> = points.iter().map(|point| point.longitude).collect();
    let rows =
        sqlx::query_file!("src/store/cover_points.sql", &latitudes, &longitudes).fetch_all(pool).await?;
    if rows.iter().any(|row| !row.loaded) {
        return Err(Error::NoArea);
    }
    let areas = rows.into_iter().map(|row| {
        let (id, version) = row.area_id.zip(row.version)?;
        Some(Area { id, version })
    });
    Ok(areas.collect())
}
