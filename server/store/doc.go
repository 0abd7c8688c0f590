// Package store is the only way to the database: pools, transactions, the
// clock, and the meaning of driver errors, the same on both engines.
//
// A Store reads; whatever writes goes through Tx and is handed a Querier. So a
// write outside a transaction does not compile, and an operation that was
// handed a Querier cannot ask the pool for a second connection while it holds
// the first: that is how pools deadlock.
//
// # A connection to PostgreSQL
//
// Its life, in the order of what happens to it:
//
//   - It is made by the pool, with the settings that every value depends on, and
//     learns which process of the server works for it: poolConfig in postgres.go,
//     Waits.settings in waits.go, know in pgbeside.go.
//   - Background passes first take a place at a gate, which leaves half of the pool
//     to requests: pg.acquire in pgacquire.go, pg.background in postgres.go.
//   - Then the caller waits for a connection that is given back, or makes one; at
//     most four are made at once: pgqueue.go.
//   - One that lay idle is tried before it is taken, and passed over if nobody
//     answers on it: pg.take in pgacquire.go.
//   - Each statement on it is watched: it runs to its end though its caller gives
//     up, and is cut if the database turns out not to work on it, or answers
//     nobody. pgstatement.go; the question is asked on a connection beside the
//     pool, pgbeside.go.
//   - A read, or a begin, whose connection broke before anything came is run once
//     more on another one, which is tried first: pgdbtx.go, pg.beginTx in
//     postgres.go.
//   - It is given back. If the server has turned read-only, or silent, all
//     connections of the pool are closed, and made anew when they are needed:
//     pgConn.release in pgacquire.go.
//
// How it went is noted for readiness, which also tries a write on the connection
// beside the pool: writing.go, pgprobe.go. What its errors mean stands in one list,
// in trouble.go. The connection that listens for notifications is none of the
// pool's: notify.go.
package store
