package web_test

import "errors"

var errSQL = errors.New(`ERROR: relation "jobs" does not exist (SQLSTATE 42P01)`)
