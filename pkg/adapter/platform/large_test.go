package platform_test

import (
	"context"
	"io"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
	"github.com/content-automation/api/pkg/adapter/platform/vk"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/adapter/platform/youtube"
	"github.com/content-automation/api/testdata/breadth"
	faketiktok "github.com/content-automation/api/testdata/platforms/tiktok"
	fakevk "github.com/content-automation/api/testdata/platforms/vk"
	fakeyoutube "github.com/content-automation/api/testdata/platforms/youtube"
)

// bound is far below the 256 MB of a function, and includes the fake.
const bound = 48 << 20

// A video is never in memory as a whole, whatever its size: a quarter of a gigabyte, or one in the sweeps.
func TestALargeVideoIsStreamed(t *testing.T) {
	size := breadth.Of(1<<28, 1<<30)
	token := func(f interface {
		Grant(time.Duration) (string, string)
	}, id string) platform.Account {
		access, refresh := f.Grant(24 * time.Hour)
		return platform.Account{ID: id, Token: platform.Token{Access: platform.Secret(access),
			Refresh: platform.Secret(refresh)}}
	}
	for name, f := range map[string]*platformtest.Fixture{
		"youtube": fixture.New(func(now func() time.Time) fixture.Fake { return fakeyoutube.New(now) },
			func(cfg wire.Config) platform.Adapter { return youtube.New(cfg) },
			func(f fixture.Fake) platform.Account { return token(f.(*fakeyoutube.Fake), fakeyoutube.Channel) }),
		"tiktok": fixture.New(func(now func() time.Time) fixture.Fake { return faketiktok.New(now) },
			func(cfg wire.Config) platform.Adapter { return tiktok.New(cfg) },
			func(f fixture.Fake) platform.Account { return token(f.(*faketiktok.Fake), faketiktok.User) }),
		"vk": fixture.New(func(now func() time.Time) fixture.Fake { return fakevk.New(now) },
			func(cfg wire.Config) platform.Adapter { return vk.New(cfg) },
			func(f fixture.Fake) platform.Account { return token(f.(*fakevk.Fake), strconv.Itoa(-fakevk.Group)) }),
	} {
		t.Run(name, func(t *testing.T) {
			defer f.Close()
			runtime.GC()
			var peak, read atomic.Int64
			video := watched(fixture.Video("large", int64(size)), &peak, &read)
			post := platform.Post{Key: "pub_1", Kind: platform.KindVideo, Title: "A long film", Caption: "Of shoes",
				Media: []platform.Media{video}}
			began := time.Now()
			done, err := platformtest.Publish(t.Context(), f, f.Account, post)
			if err != nil || !done.Done() || len(f.Fake.Posts()) != 1 {
				t.Fatalf("%+v, %v", done, err)
			}
			if read.Load() != int64(size) {
				t.Errorf("%d bytes were read, want each byte once", read.Load())
			}
			t.Logf("peak heap %.1f MB, %s, %d calls", float64(peak.Load())/(1<<20),
				time.Since(began).Round(time.Millisecond), f.Fake.Calls())
			if peak.Load() > bound {
				t.Errorf("the heap had up to %d bytes, want at most %d", peak.Load(), bound)
			}
		})
	}
}

// watched is a file that records the bytes read from it, and the largest heap meanwhile.
func watched(m platform.Media, peak, read *atomic.Int64) platform.Media {
	open := m.Open
	m.Open = func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
		r, err := open(ctx, offset, length)
		return &watch{ReadCloser: r, peak: peak, read: read}, err
	}
	return m
}

type watch struct {
	io.ReadCloser
	peak, read *atomic.Int64
	since      int
}

func (w *watch) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.read.Add(int64(n))
	if w.since += n; w.since >= 8<<20 {
		w.since = 0
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		w.peak.Store(max(w.peak.Load(), int64(m.HeapInuse)))
	}
	return n, err
}
