package platform_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/telegram"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
	"github.com/content-automation/api/pkg/adapter/platform/vk"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	faketelegram "github.com/content-automation/api/testdata/platforms/telegram"
	faketiktok "github.com/content-automation/api/testdata/platforms/tiktok"
	fakevk "github.com/content-automation/api/testdata/platforms/vk"
)

// payload is the stored payload of a publication's task.
type payload struct {
	Progress platform.Progress
	Failure  platform.Code
}

// publishing is a handler of the task kernel: a step of the task is a step of the
// publication, and the lease is the right to post.
type publishing struct {
	*platformtest.Fixture
	post    platform.Post
	mu      sync.Mutex
	account platform.Account
}

func (h *publishing) Step(ctx context.Context, s *task.Step) (task.Outcome, error) {
	var p payload
	if err := s.Decode(&p); err != nil {
		return task.Outcome{}, err
	}
	h.mu.Lock()
	account := h.account
	h.mu.Unlock()
	keep := func(ctx context.Context, now platform.Progress) error { return s.Lease(ctx, payload{Progress: now}) }
	progress, wait, err := platform.Next(ctx, h.Adapter, account, h.post, p.Progress, h.Now(), keep)
	o := task.Outcome{Payload: payload{Progress: progress}, Wait: wait, Done: progress.Done()}
	var e *platform.Error
	switch {
	case err == nil:
		return o, nil
	case ctx.Err() != nil || !errors.As(err, &e):
		return task.Outcome{}, err
	case e.Kind.Final():
		o.Payload, o.Done = payload{Progress: progress, Failure: e.Code}, true
		return o, nil
	case e.Kind == platform.Expired:
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.account.Token.Access == account.Token.Access {
			token, err := h.Adapter.Refresh(ctx, h.account)
			if err != nil {
				return task.Outcome{Payload: o.Payload}, err
			}
			h.account.Token = token
		}
		return o, nil
	default:
		return o, &task.RetryError{Err: err, After: e.RetryAfter, MaxFailures: task.NoLimit}
	}
}

func (h *publishing) Fail(_ context.Context, s *task.Step, _ error) (task.Outcome, error) {
	return task.Outcome{Done: true}, nil
}

// Each message reaches two functions at once, calls meet faults, and functions die. The state that the kernel stores
// permits one post at most.
func TestTheTaskKernelPostsOnce(t *testing.T) {
	grant := func(f interface {
		Grant(time.Duration) (string, string)
	}, a platform.Account) platform.Account {
		access, refresh := f.Grant(24 * time.Hour)
		a.Token.Access, a.Token.Refresh = platform.Secret(access), platform.Secret(refresh)
		return a
	}
	video := platform.Post{Key: "pub_1", Kind: platform.KindVideo, Title: "A shoe", Caption: "It runs",
		Media: []platform.Media{fixture.Video("a", 9000)}}
	for name, start := range map[string]func() *platformtest.Fixture{
		"telegram": func() *platformtest.Fixture {
			return fixture.New(func(now func() time.Time) fixture.Fake { return faketelegram.New(now) },
				func(cfg wire.Config) platform.Adapter { return telegram.New(cfg) },
				func(fixture.Fake) platform.Account {
					return platform.Account{ID: faketelegram.Channel, Token: platform.Token{Access: faketelegram.Token}}
				})
		},
		"tiktok": func() *platformtest.Fixture {
			return fixture.New(func(now func() time.Time) fixture.Fake { return faketiktok.New(now) },
				func(cfg wire.Config) platform.Adapter { return tiktok.New(cfg) },
				func(f fixture.Fake) platform.Account {
					return grant(f.(*faketiktok.Fake), platform.Account{ID: faketiktok.User})
				})
		},
		"vk": func() *platformtest.Fixture {
			return fixture.New(func(now func() time.Time) fixture.Fake { return fakevk.New(now) },
				func(cfg wire.Config) platform.Adapter { return vk.New(cfg) },
				func(f fixture.Fake) platform.Account {
					return grant(f.(*fakevk.Fake), platform.Account{ID: strconv.Itoa(-fakevk.Group),
						Token: platform.Token{Device: fakevk.Device}})
				})
		},
	} {
		t.Run(name, func(t *testing.T) {
			published := 0
			for seed := range uint64(40) {
				f := start()
				p := publishByTask(t, f, video, seed)
				if posts := len(f.Fake.Posts()); posts > 1 || p.Progress.Done() && posts != 1 || !p.Progress.Done() &&
					p.Failure == "" {
					t.Errorf("seed %d: %d posts, ended as %+v", seed, posts, p)
				}
				if p.Progress.Done() {
					published++
				}
				f.Close()
			}
			if published < 10 {
				t.Errorf("%d of 40 were published", published)
			}
		})
	}
}

// publishByTask runs the task of a publication to its end.
func publishByTask(t *testing.T, f *platformtest.Fixture, post platform.Post, seed uint64) payload {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	db := storetest.Open(t, f.Now)
	h := &publishing{Fixture: f, post: post, account: f.Account}
	kernel := servicetest.Kernel(db, f.Now, map[task.Kind]task.Handler{"publish": h})
	tx := &store.Tx{}
	message := task.Message{ID: "task#1", Kind: "publish", Queue: topology.GenerateText, Subject: "pub_1",
		Owner: tenant.Of("acc_1", tenant.Live)}
	if err := task.Create(tx, f.Now(), task.Task{Message: message}, payload{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	for range 400 {
		it, err := db.Get(t.Context(), store.IDKey("task#1"))
		if err != nil {
			t.Fatal(err)
		}
		var now task.Task
		if err := it.Decode(&now); err != nil {
			t.Fatal(err)
		}
		if it.Filters["state"] == "ended" {
			var p payload
			if err := (&task.Step{Task: now}).Decode(&p); err != nil {
				t.Fatal(err)
			}
			return p
		}
		if random.IntN(3) == 0 {
			f.Fake.Fail(f.Fake.Calls()+1+random.IntN(2), platformtest.Faults()[random.IntN(len(platformtest.Faults()))])
		}
		deliver(t.Context(), f, kernel, now.Message, 2)
		f.Fake.Calm()
		// Until the next step is due, or the lease of a function that has died has ended.
		f.Advance(20 * time.Second)
	}
	t.Fatalf("seed %d: it has not ended", seed)
	return payload{}
}

// deliver delivers a message to some functions at once, which die where the fake lets
// them wait.
func deliver(ctx context.Context, f *platformtest.Fixture, kernel *task.Kernel, m task.Message, functions int) {
	ctx, stop := platformtest.Impatient(ctx, f.Fake)
	defer stop()
	var all sync.WaitGroup
	for range functions {
		all.Go(func() {
			_, _ = kernel.Do(ctx, m, "") // a failed message is delivered again
		})
	}
	all.Wait()
}
