package control

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/store"
)

// SharedKey is a random key of 32 bytes that every replica of a database has:
// whoever asks first makes it.
func SharedKey(ctx context.Context, s *store.Store, name string) ([]byte, error) {
	text, err := s.MetaGet(ctx, model.MetaGetParams{Key: name})
	if store.NotFound(err) {
		text, err = makeKey(ctx, s, name)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key %s: %w", name, err)
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("read the key %s: %w", name, err)
	}
	return key, nil
}

func makeKey(ctx context.Context, s *store.Store, name string) (text string, err error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the process instead
	err = s.Tx(ctx, func(q model.Querier) error {
		set := model.MetaInsertParams{Key: name, Value: base64.StdEncoding.EncodeToString(key)}
		if _, err := q.MetaInsert(ctx, set); err != nil {
			return err
		}
		text, err = q.MetaGet(ctx, model.MetaGetParams{Key: name})
		return err
	})
	return text, err
}
