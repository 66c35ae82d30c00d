//! A backlog of reports behind a pause, let out all at once.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use sqlx::PgPool;

/// Different photos; the reports share them, as loading gigabytes would take longer than the measurement.
const PHOTOS: i32 = 64;
const PATIENCE: Duration = Duration::from_secs(300);

/// What a drain came to.
pub(super) struct Figures {
    pub(super) per_second: f64,
    /// Processor time for each report, in milliseconds.
    pub(super) service_ms: f64,
    pub(super) database_ms: f64,
}

/// Makes `count` reports that are due, each with a photo of so many bytes, and pauses the outbox.
pub(super) async fn fill(pool: &PgPool, count: i64, photo: usize) -> anyhow::Result<()> {
    sqlx::query("insert into report.push_gate (channel, paused, changed_by, because) values ('whatsapp', true, 'bench', 'bench')")
        .execute(pool)
        .await?;
    for number in 0..PHOTOS {
        let mut bytes = vec![0_u8; photo];
        rand::fill(bytes.as_mut_slice());
        sqlx::query("insert into report.photo (sha256, content_type, bytes) values ($1, 'image/jpeg', $2)")
            .bind(number.to_be_bytes())
            .bind(bytes)
            .execute(pool)
            .await?;
    }
    sqlx::query(
        "insert into report.report (id, channel, chat_id, state, reference, language, point, address, area_id, area_version,
           route, note, photo_sha256, received_at)
         select gen_random_uuid(), 'whatsapp', gen_random_uuid(), 'received', 'REF-2026-' || to_char(n, 'FM000000'), 'es',
           public.st_setsrid(public.st_makepoint(-2.6726, 42.8467), 4326), 'Calle Pintorería 12', 'city', 1,
           'container/overflowing/glass', 'junto al portal', case when $2 then decode(lpad(to_hex(n % $3), 8, '0'), 'hex') end,
           now() - interval '1 hour' + make_interval(secs => n / 1000.0)
         from generate_series(1, $1::int) n",
    )
    .bind(i32::try_from(count)?)
    .bind(photo > 0)
    .bind(PHOTOS)
    .execute(pool)
    .await?;
    sqlx::query("analyze report.report").execute(pool).await?;
    Ok(())
}

/// Ends the pause and waits until all have gone out. The rate is that of the database's own times.
pub(super) async fn drain(pool: &PgPool, count: i64, service: u32) -> anyhow::Result<Figures> {
    let before = (processor_ms(service)?, database_ms(pool).await?);
    sqlx::query("delete from report.push_gate").execute(pool).await?;
    let began = Instant::now();
    loop {
        let left: i64 = sqlx::query_scalar("select count(*) from report.report where push_state = 'pending'")
            .fetch_one(pool)
            .await?;
        if left == 0 {
            break;
        }
        ensure!(began.elapsed() < PATIENCE, "{left} of {count} reports have not gone out");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let after = (processor_ms(service)?, database_ms(pool).await?);
    let (sent, seconds): (i64, f64) = sqlx::query_as(
        "select count(*), extract(epoch from max(push_sent_at) - min(push_sent_at))::float8 from report.report
         where push_state = 'sent'",
    )
    .fetch_one(pool)
    .await?;
    ensure!(sent == count, "only {sent} of {count} reports were sent");
    // Some thousands.
    let reports = sent as f64;
    Ok(Figures {
        per_second: (reports - 1.0) / seconds,
        service_ms: (after.0 - before.0) / reports,
        database_ms: (after.1 - before.1) / reports,
    })
}

/// Processor time of a process so far. Ticks are of a hundredth of a second on every Linux that there is.
fn processor_ms(pid: u32) -> anyhow::Result<f64> {
    let fields = stat(pid)?;
    // Its own and its ended children's, in user and kernel mode.
    let ticks = [11, 12, 13, 14].map(|place| fields.get(place).and_then(|field| field.parse::<f64>().ok()));
    Ok(ticks.into_iter().flatten().sum::<f64>() * 10.0)
}

/// Of the server that the pool is connected to, with all its processes: the parent of our backend and its children.
async fn database_ms(pool: &PgPool) -> anyhow::Result<f64> {
    let backend: i32 = sqlx::query_scalar("select pg_backend_pid()").fetch_one(pool).await?;
    let server = parent(backend.unsigned_abs())?;
    let mut all = processor_ms(server)?;
    for entry in std::fs::read_dir("/proc")? {
        let pid = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        // A process may end meanwhile; what it took is in the server's own figure then.
        if let Some(pid) = pid.filter(|pid| parent(*pid).is_ok_and(|parent| parent == server)) {
            all += processor_ms(pid).unwrap_or_default();
        }
    }
    Ok(all)
}

fn parent(pid: u32) -> anyhow::Result<u32> {
    stat(pid)?.get(1).and_then(|field| field.parse().ok()).context("no parent in /proc")
}

/// What `/proc` tells of a process, after its name.
fn stat(pid: u32) -> anyhow::Result<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').context("no name in /proc")?;
    Ok(fields.split_whitespace().map(str::to_owned).collect())
}
