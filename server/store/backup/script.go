package backup

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// script runs SQL that pg_restore prints on a connection of our own, where it is
// one transaction together with what stands before and behind it. pg_restore
// itself would commit before its result could be looked at.
type script struct {
	conn  *pgconn.PgConn
	major int // of the server
}

// section runs a part of an archive that is SQL alone: pre-data or post-data.
func (s script) section(ctx context.Context, print run) error {
	var text bytes.Buffer
	if err := print.to(ctx, &text); err != nil {
		return err
	}
	return s.exec(ctx, text.String())
}

// exec runs statements, but for lines that are not the server's to read.
func (s script) exec(ctx context.Context, text string) error {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !s.skips(line) {
			kept.WriteString(line)
		}
	}
	return s.conn.Exec(ctx, kept.String()).Close()
}

// skips: \restrict and \unrestrict are for psql, and a pg_restore of 17 or newer
// sets a timeout that older servers do not know.
func (s script) skips(line string) bool {
	return strings.HasPrefix(line, `\restrict `) || strings.HasPrefix(line, `\unrestrict `) ||
		s.major < 17 && line == "SET transaction_timeout = 0;\n"
}

// data runs the section with the rows while pg_restore prints it.
func (s script) data(ctx context.Context, print run) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, wait, err := print.start(ctx)
	if err != nil {
		return err
	}
	err = s.copies(ctx, bufio.NewReaderSize(out, 64<<10))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		cancel()
		_ = wait()
		return err
	}
	if ended := wait(); ended != nil {
		return ended // which says why the rows ended too early
	}
	return err
}

// copies runs each COPY with the rows behind it, and what stands between them.
func (s script) copies(ctx context.Context, r *bufio.Reader) error {
	var text strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if !strings.HasPrefix(line, "COPY ") || !strings.HasSuffix(line, " FROM stdin;\n") {
			text.WriteString(line)
			if err == nil {
				continue
			}
			return s.exec(ctx, text.String())
		}
		if err := s.exec(ctx, text.String()); err != nil {
			return err
		}
		text.Reset()
		rows := &copyRows{r: r}
		_, err = s.conn.CopyFrom(ctx, rows, line)
		if rows.err != nil {
			return rows.err
		}
		if err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSuffix(line, " FROM stdin;\n"), err)
		}
	}
}

// copyRows reads the rows of a COPY up to the line that ends them.
type copyRows struct {
	r     *bufio.Reader
	left  []byte
	ended bool
	err   error
}

func (c *copyRows) Read(b []byte) (int, error) {
	if len(c.left) == 0 && !c.ended && c.err == nil {
		c.next()
	}
	switch {
	case c.err != nil:
		return 0, c.err
	case c.ended:
		return 0, io.EOF
	}
	n := copy(b, c.left)
	c.left = c.left[n:]
	return n, nil
}

// next takes a row, or the end.
func (c *copyRows) next() {
	line, err := c.r.ReadBytes('\n')
	switch {
	case errors.Is(err, io.EOF):
		c.err = io.ErrUnexpectedEOF
	case err != nil:
		c.err = err
	case string(line) == "\\.\n":
		c.ended = true
	default:
		c.left = line
	}
}
