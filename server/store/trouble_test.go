package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/stint-run/stint/server/fault"
)

func TestTroubleOfAFileIsSaidInWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err    error
		words  string
		passes bool
	}{
		{&fs.PathError{Op: "write", Err: syscall.ENOSPC}, "the disk is full", true},
		{&fs.PathError{Op: "write", Err: syscall.EDQUOT}, "the disk is full", true},
		{&fs.PathError{Op: "write", Err: syscall.EFBIG}, "the disk is full, or the file may not grow", true},
		{&fs.PathError{Op: "open", Err: syscall.EROFS}, "the file system is read-only", false},
		{fmt.Errorf("open: %w", os.ErrPermission), "this user may not use the file or its folder", false},
		{errors.New("another"), "", false},
		{nil, "", false},
	} {
		if words, passes := Trouble(tt.err); words != tt.words || passes != tt.passes {
			t.Errorf("%v: %q, passes %v", tt.err, words, passes)
		}
	}
}

func TestEachCauseHasASentenceAndEachSentenceACause(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, one := range troubles {
		if one.cause == "" && one.words == "" {
			t.Error("a trouble has neither a cause nor words")
		}
		if named[one.cause] = true; one.cause != "" && details[one.cause] == "" {
			t.Errorf("%s has no sentence", one.cause)
		}
	}
	for cause := range details {
		if !named[cause] {
			t.Errorf("no error is %s", cause)
		}
	}
}

func TestAnAnswerHasTheSentenceOfItsCause(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err   error
		cause string
	}{
		{errMoved, CauseFileMoved},
		{&pgconn.PgError{Code: readOnlyTransaction}, CauseReadOnly},
		{errUsedUp, CausePoolUsedUp},
		{errWriterBusy, CauseWriterBusy},
		{context.DeadlineExceeded, CauseAway},
	} {
		f, ok := errors.AsType[*fault.Fault](Explain(fmt.Errorf("begin: %w", tt.err)))
		if !ok || f.Detail != details[tt.cause] {
			t.Errorf("%v is explained by %v, want %q", tt.err, f, details[tt.cause])
		}
	}
}
