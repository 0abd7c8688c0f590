package records

import (
	"errors"
	"io"

	"github.com/stint-run/stint/server/ndjson"
)

// chunks groups the parts of a body into chunks of bounded size. It reads one part
// ahead, to know which chunk is the last one.
type chunks struct {
	items ndjson.Items
	lines int // of a chunk, at most
	ahead *ndjson.Item
	ended bool
	err   error // that ended the body behind a whole chunk
}

// next is the next chunk, which is empty for a body without lines. last says that
// none follows. An error drops the parts of the chunk that it cut off.
func (c *chunks) next() (chunk []ndjson.Item, last bool, err error) {
	var size int
	for {
		if err := c.look(); err != nil && len(chunk) == c.lines {
			c.err = err
			return chunk, false, nil
		} else if err != nil {
			return nil, false, err
		}
		if c.ended {
			return chunk, true, nil
		}
		if len(chunk) == c.lines || len(chunk) > 0 && size+len(c.ahead.Raw) > MaxChunkBytes {
			return chunk, false, nil
		}
		chunk, size = append(chunk, *c.ahead), size+len(c.ahead.Raw)
		c.ahead = nil
	}
}

// look sees to it that the next part is known, or that there is none.
func (c *chunks) look() error {
	if c.err != nil || c.ahead != nil || c.ended {
		return c.err
	}
	it, err := c.items.Next()
	switch {
	case errors.Is(err, io.EOF):
		c.ended = true
	case err != nil:
		return err
	default:
		c.ahead = &it
	}
	return nil
}

// skip passes over the parts before the line with that index.
func (c *chunks) skip(index int64) error {
	for {
		if err := c.look(); err != nil {
			return err
		}
		if c.ended || c.ahead.Index >= index {
			return nil
		}
		c.ahead = nil
	}
}
