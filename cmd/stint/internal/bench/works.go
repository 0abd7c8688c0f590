package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	stint "github.com/stint-run/stint/client"
	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

// stockBatch is how many jobs one request of a batch enqueues.
const stockBatch = 1000

// works is what is measured, in order. What the one enqueues the next claims.
func (b *bench) works() []work {
	return []work{
		{name: "enqueue, one by one", clients: b.Clients, one: b.enqueue},
		{name: "claim + finish, one by one", clients: b.Clients, one: func(ctx context.Context) (int, error) { return b.claimAndFinish(ctx, 1) },
			stock: b.fill},
		{name: fmt.Sprintf("enqueue, in batches of %d", stockBatch), clients: min(b.Clients, 2), one: b.enqueueBatch},
		{name: fmt.Sprintf("drain, in batches of %d", b.Batch), clients: min(b.Clients, 4), one: func(ctx context.Context) (int, error) { return b.claimAndFinish(ctx, b.Batch) },
			stock: b.fill},
	}
}

const payload = `{"module":"example.org/some/module","version":"v1.2.3"}`

func (b *bench) item() string { return `{"kind":"` + b.Kind + `","payload":` + payload + `}` }

func (b *bench) enqueue(ctx context.Context) (int, error) {
	_, err := api.Answer[struct{}](b.API.EnqueueJobWithBody(ctx, nil, "application/json", strings.NewReader(b.item()), stint.WithoutIdempotencyKey))
	return 1, err
}

func (b *bench) enqueueBatch(ctx context.Context) (int, error) {
	body := `{"items":[` + strings.Repeat(b.item()+",", stockBatch-1) + b.item() + `]}`
	_, err := api.Answer[struct{}](b.API.EnqueueJobsWithBody(ctx, nil, "application/json", strings.NewReader(body), stint.WithoutIdempotencyKey))
	return stockBatch, err
}

// fill sees that there are enough jobs for a run.
func (b *bench) fill(ctx context.Context) error {
	for n := 0; n < b.Jobs; n += stockBatch {
		if _, err := b.enqueueBatch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// claimed is what a worker needs of a claim.
type claimed struct {
	Jobs []struct {
		ID         string `json:"id"`
		LeaseToken string `json:"lease_token"`
	} `json:"jobs"`
}

func (b *bench) claimAndFinish(ctx context.Context, limit int) (int, error) {
	body := fmt.Sprintf(`{"worker":"bench","kinds":[%q],"limit":%d}`, b.Kind, limit)
	got, err := api.Answer[claimed](b.API.ClaimJobsWithBody(ctx, nil, "application/json", strings.NewReader(body)))
	if err != nil || len(got.Value.Jobs) == 0 {
		return 0, err
	}
	if limit == 1 {
		job := got.Value.Jobs[0]
		_, err := api.Answer[struct{}](b.API.CompleteJob(ctx, job.ID, nil, client.CompleteJobRequest{
			LeaseToken: job.LeaseToken, Result: json.RawMessage(`{"ok":true}`)}))
		return 1, err
	}
	items := make([]client.CompleteItem, len(got.Value.Jobs))
	for i, job := range got.Value.Jobs {
		items[i] = client.CompleteItem{ID: job.ID, LeaseToken: job.LeaseToken, Result: json.RawMessage(`{"ok":true}`)}
	}
	done, err := api.Answer[client.CompleteBatchAnswer](b.API.CompleteJobs(ctx, nil, client.CompleteJobsRequest{Items: items}))
	for _, r := range done.Value.Results {
		if r.Problem != nil {
			return 0, fmt.Errorf("finish: %s", r.Problem.Code)
		}
	}
	return len(items), err
}
