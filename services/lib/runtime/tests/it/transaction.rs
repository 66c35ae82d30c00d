//! `with_tx` against a real database.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use runtime::with_tx;
use sqlx::PgPool;
use tokio::sync::{Notify, oneshot};

async fn table(pool: &PgPool) {
    sqlx::query("create table public.note (id int primary key, body text not null)")
        .execute(pool)
        .await
        .unwrap();
    sqlx::query("insert into public.note values (1, 'one'), (2, 'two')").execute(pool).await.unwrap();
}

async fn body(pool: &PgPool, id: i32) -> String {
    sqlx::query_scalar("select body from public.note where id = $1").bind(id).fetch_one(pool).await.unwrap()
}

#[tokio::test]
async fn an_error_leaves_nothing_behind() {
    let db = testkit::database().await;
    table(&db.pool).await;
    let result: Result<(), sqlx::Error> = with_tx(&db.pool, (), |tx, ()| {
        Box::pin(async move {
            sqlx::query("update public.note set body = 'changed'").execute(&mut *tx).await?;
            Err(sqlx::Error::RowNotFound)
        })
    })
    .await;
    assert!(matches!(result, Err(sqlx::Error::RowNotFound)));
    assert_eq!(body(&db.pool, 1).await, "one");
}

#[tokio::test]
async fn whoever_stops_waiting_does_not_cut_the_transaction() {
    let db = testkit::database().await;
    table(&db.pool).await;
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let input = (Arc::clone(&begun), Arc::clone(&go_on));
    let pool = db.pool.clone();
    let (committed, done) = oneshot::channel::<()>();
    let committed = Arc::new(std::sync::Mutex::new(Some(committed)));
    let waiting = tokio::spawn(async move {
        let work = with_tx(&pool, (input, committed), |tx, ((begun, go_on), committed)| {
            Box::pin(async move {
                sqlx::query("update public.note set body = 'changed' where id = 1").execute(tx).await?;
                begun.notify_one();
                go_on.notified().await;
                drop(committed.lock().unwrap().take());
                Ok::<_, sqlx::Error>(())
            })
        });
        work.await.unwrap();
    });
    begun.notified().await;
    waiting.abort();
    go_on.notify_one();
    // The sender is dropped inside the transaction's own task, right before its commit.
    assert!(done.await.is_err());
    testkit::eventually("the commit", async || (body(&db.pool, 1).await == "changed").then_some(())).await;
    let idle = db.count("select count(*) from pg_stat_activity where state like 'idle in transaction%' and datname = current_database()");
    assert_eq!(idle.await, 0);
}

#[tokio::test]
async fn a_deadlock_is_run_again_and_both_sides_commit() {
    let db = testkit::database().await;
    table(&db.pool).await;
    let runs = Arc::new(AtomicUsize::new(0));
    let meet = Arc::new(tokio::sync::Barrier::new(2));
    let both = [(1, 2), (2, 1)].map(|(first, second)| {
        let (pool, input) = (db.pool.clone(), (Arc::clone(&runs), Arc::clone(&meet), first, second));
        tokio::spawn(async move {
            with_tx(&pool, input, |tx, (runs, meet, first, second)| {
                Box::pin(async move {
                    let run = runs.fetch_add(1, Ordering::SeqCst);
                    let update = "update public.note set body = body || '+' where id = $1";
                    sqlx::query(update).bind(first).execute(&mut *tx).await?;
                    // Only the first two runs meet; the repeated one finds nobody.
                    if run < 2 {
                        meet.wait().await;
                    }
                    sqlx::query(update).bind(second).execute(tx).await?;
                    Ok::<_, sqlx::Error>(())
                })
            })
            .await
        })
    });
    for side in both {
        side.await.unwrap().unwrap();
    }
    assert_eq!(runs.load(Ordering::SeqCst), 3, "one side was run again, once");
    assert_eq!((body(&db.pool, 1).await, body(&db.pool, 2).await), ("one++".to_owned(), "two++".to_owned()));
}
