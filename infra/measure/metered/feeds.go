package metered

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/content-automation/api/pkg/area/feed"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/task"
)

// Feed is the usage of the runs of the feed of a shop.
type Feed struct {
	// First is the usage of the run that creates all products, and Daily that of the next one, in which 1 % of the rows
	// have another price.
	First, Daily Used
	// Fetched is the size of the feed.
	Fetched int64
}

// shop is the server of the feed of a shop, and its files in memory.
type shop struct {
	described
	rows, day int
	files     map[string][]byte
}

// feed returns the feed of the day.
func (s *shop) feed() []byte {
	var b bytes.Buffer
	b.WriteString("sku,name,description,price,color,photo\n")
	for i := range s.rows {
		price := 100 + i
		if i%100 == 0 {
			price += s.day
		}
		fmt.Fprintf(&b, "S-%06d,Trail running shoe %d,%s,%d EUR,red,\n", i, i, "Made of recycled nets, for wet rock.", price)
	}
	return b.Bytes()
}

// Do implements the client of feeds.
func (s *shop) Do(*http.Request) (*http.Response, error) {
	body := io.NopCloser(bytes.NewReader(s.feed()))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body}, nil
}

// Open implements worker.Files.
func (s *shop) Open(_ context.Context, key string) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(s.files[key])), nil
}

// Put implements worker.Files.
func (s *shop) Put(_ context.Context, f media.File, content io.ReadSeeker) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	data, err := io.ReadAll(content)
	s.files[f.Key] = data
	return err
}

// Feed lets the catalog of a new factory follow a feed of some rows, on two days.
func (w *World) Feed(ctx context.Context, rows int) (f Feed, err error) {
	factory, err := w.fed(ctx)
	if err != nil {
		return f, err
	}
	s := &shop{rows: rows, files: map[string][]byte{}}
	body := Object{"source": feedBody["source"], "format": "csv"}
	if _, err := w.Call(ctx, Request{Operation: "setFeed", ID: factory, Body: body}); err != nil {
		return f, err
	}
	env := w.Workers
	env.Files, env.Uploads = s, s
	kernel := worker.Kernel(w.State, worker.Named("sync-feed").Tasks(env), w.Now)
	for _, used := range []*Used{&f.First, &f.Daily} {
		made, err := w.Call(ctx, Request{Operation: "syncFeed", ID: factory, Body: Object{}})
		if err != nil {
			return f, err
		}
		run, err := made.ID()
		if err != nil {
			return f, err
		}
		work := func() error { return w.steps(ctx, kernel, task.ID(feed.RunKind, run, 1)) }
		if err := w.weigh(used, work); err != nil {
			return f, err
		}
		ended, err := w.Call(ctx, Request{Operation: "getFeed", ID: factory})
		if err != nil {
			return f, err
		}
		var got feed.Feed
		if err := json.Unmarshal(ended.Data, &got); err != nil {
			return f, err
		}
		changed := rows
		if s.day > 0 {
			changed /= 100
		}
		if got.LastRun == nil || got.LastRun.Created+got.LastRun.Changed != changed {
			return f, fmt.Errorf("the run is not right: %s", ended.Data)
		}
		s.day++
	}
	f.Fetched = int64(len(s.feed()))
	return f, nil
}
