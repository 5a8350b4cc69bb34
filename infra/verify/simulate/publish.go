package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// published is a post that a platform has.
type published struct {
	id    string
	times int
	// sent is the number of calls that made the post, by workers that were entitled to.
	account  string
	comments []platform.Comment
}

// platforms are doubles of two platforms: the posts of one can be read, and the other takes a post and cannot
// report it afterwards.
type platforms struct{}

// Of implements publication.Platforms.
func (platforms) Of(_ tenant.Mode, name string) (platform.Adapter, bool) {
	return stage{name: name}, name == "facebook" || name == "telegram"
}

// stage is a platform. It counts the posts by the ids of publications.
type stage struct {
	name string
	platform.Connector
}

var _ platform.Adapter = stage{}

// Name implements platform.Adapter.
func (s stage) Name() string { return s.name }

// Capabilities implements platform.Adapter. The limits are those of the platform, because a publication is held against
// them again when it begins. The stage has no metrics, which would be read for months.
func (s stage) Capabilities() platform.Capabilities {
	row, _ := registry.Find(s.name)
	c := row.Capabilities
	c.Metrics, c.Account, c.Reads, c.Budget = nil, platform.AccountFigures{}, nil, nil
	if c.Comments.Reads {
		c.Comments = commenting
	}
	return c
}

func (s stage) pass(ctx context.Context, what string, a platform.Account, key string, lost error,
	do func(w *world) error) error {
	w := invocationOf(ctx).world
	err := pass(ctx, &call{kind: toProvider, key: what + " " + s.name + " " + key, refused: platform.Busy(),
		lost: lost, do: func() error {
			if err := w.refusal(s, what, a); err != nil {
				return err
			}
			return do(w)
		}})
	if ctx.Err() != nil {
		return lost
	}
	return err
}

// Start implements platform.Publisher.
func (s stage) Start(ctx context.Context, a platform.Account, p platform.Post) (out platform.Step, err error) {
	err = s.pass(ctx, "Start", a, p.Key, platform.Busy(), func(w *world) error {
		out, err = platform.Go(platform.StageCheck, w.random.IntN(3), 0)
		return err
	})
	return out, err
}

// Check implements platform.Publisher.
func (s stage) Check(ctx context.Context, a platform.Account, p platform.Post,
	h platform.Handle) (out platform.Step, err error) {
	err = s.pass(ctx, "Check", a, p.Key, platform.Busy(), func(w *world) error {
		var left int
		must(h.Decode(&left))
		switch {
		case !w.calm && chance(w.random, w.faults.Provider/10):
			return platform.Reject(platform.CodeContentPolicy, "Simulated.")
		case !w.calm && chance(w.random, w.faults.Provider/4):
			return platform.Again(nil)
		case left == 0:
			out, err = platform.Go(platform.StageFinalize, 0, 0)
		default:
			out, err = platform.Go(platform.StageCheck, left-1, time.Duration(1+w.random.IntN(20))*time.Second)
		}
		return err
	})
	return out, err
}

// Finalize implements platform.Publisher.
func (s stage) Finalize(ctx context.Context, a platform.Account, p platform.Post,
	_ platform.Handle) (out platform.Step, err error) {
	err = s.pass(ctx, "Finalize", a, p.Key, platform.Lost(nil), func(w *world) error {
		w.team.posting(p.Key)
		post := w.posts[p.Key]
		if post == nil {
			post = &published{id: fmt.Sprint("post-", len(w.posts)), account: a.ID}
			w.posts[p.Key] = post
			post.remark(w)
		}
		post.times++
		if !w.calm && chance(w.random, w.faults.Answer/4) { // it has the post nevertheless
			return platform.Odd().Saying("Simulated.")
		}
		out = platform.Step{Next: platform.StageDone, Post: platform.PublishedPost{ID: post.id}}
		return nil
	})
	return out, err
}

// Reconcile implements platform.Publisher.
func (s stage) Reconcile(ctx context.Context, a platform.Account, p platform.Post, h platform.Handle,
	_ time.Time) (out platform.Step, err error) {
	if s.name == "telegram" {
		return out, platform.Lost(nil)
	}
	err = s.pass(ctx, "Reconcile", a, p.Key, platform.Busy(), func(w *world) error {
		out = platform.Step{Next: platform.StageReconcile, Handle: h}
		if post := w.posts[p.Key]; post != nil {
			out = platform.Step{Next: platform.StageDone, Post: platform.PublishedPost{ID: post.id}}
		}
		return nil
	})
	return out, err
}

// Metrics implements platform.Publisher.
func (stage) Metrics(context.Context, platform.Account, platform.PublishedPost) (m platform.Metrics, err error) {
	return m, platform.Unsupported("metrics")
}

// URL implements publication.Files. Nothing reads the address.
func (objects) URL(context.Context, string, string) (string, error) {
	return "https://media.example.com", nil
}

// Range implements publication.Files.
func (objects) Range(context.Context, string, int64, int64) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("")), nil
}

// connect connects accounts of both platforms.
func (c *caller) connect() {
	tx := &store.Tx{}
	for _, name := range []string{"facebook", "telegram"} {
		now := time.Now()
		r := social.Record{Account: social.Account{Resource: resource.New(social.NewID(now), now, nil),
			Platform: name, FactoryIDs: []string{}, State: social.Connected}, PlatformID: c.name}
		if c.random.IntN(3) == 0 {
			r.LateAfterSeconds = new(30)
		}
		var err error
		r.SealedAccount, err = build().vault().Seal(context.Background(), c.principal.Owner, r.ID,
			platform.Account{ID: c.name})
		must(err)
		must(c.refreshed(tx, &r))
		it, err := r.Item(c.principal.Owner)
		must(err)
		tx.Create(it, nil)
		c.accounts = append(c.accounts, r.ID)
	}
	must(c.world.db().Commit(context.Background(), tx))
}

// publish publishes or schedules an item, or clears its schedule.
func (c *caller) publish(path string) {
	accounts := c.accounts
	if c.random.IntN(2) == 0 {
		accounts = accounts[:1]
	}
	decide := "/v1/approvals" + strings.TrimPrefix(path, "/v1/content-items")
	switch n := c.random.IntN(9); {
	case n == 6:
		c.call(http.MethodPost, path+"/schedule", object{"publish_at": "next_slot", "social_account_ids": accounts}, nil)
	case n == 7:
		c.call(http.MethodPost, decide+"/approve", nil, nil)
	case n == 8:
		c.call(http.MethodPost, decide+"/request-changes", object{"note": "Shorter"}, nil)
	case n == 0:
		c.call(http.MethodPost, path+"/schedule", object{"publish_at": nil}, nil)
	case n < 3:
		at := time.Now().Add(between(c.random, time.Second, 30*time.Minute))
		c.call(http.MethodPost, path+"/schedule", object{"publish_at": at, "social_account_ids": accounts}, nil)
	default:
		c.call(http.MethodPost, path+"/publish", object{"social_account_ids": accounts}, nil)
	}
}

// checkPublications checks that nothing was posted twice, that the platforms have all published posts, and that no
// publication of an account is under way or recorded.
func (w *world) checkPublications(fail func(format string, args ...any)) {
	for id, p := range w.posts {
		if p.times > 1 {
			fail("%s was posted %d times", id, p.times)
		}
	}
	slots, rows := map[string]string{}, map[string][]item.Row{}
	all := w.items()
	for _, it := range all {
		if textOf(it, "kind") == item.PublicationKind {
			var p item.Row
			must(json.Unmarshal([]byte(textOf(it, "doc")), &p))
			rows[p.ContentItemID] = append(rows[p.ContentItemID], p)
		}
	}
	items := map[string]bool{}
	for _, it := range all {
		pk := textOf(it, "pk")
		if strings.HasPrefix(textOf(it, "parent_pk"), "slots#") ||
			strings.HasPrefix(pk, "scheduled#") && numberOf(it, "n_count") != 0 {
			fail("%s is left", pk)
		}
		if textOf(it, "kind") != item.ItemKind {
			continue
		}
		var r item.Record
		must(json.Unmarshal([]byte(textOf(it, "doc")), &r))
		items[r.Item.ID] = true
		for _, s := range r.Slots {
			if at := fmt.Sprint(s.Account, s.At); slots[at] != "" {
				fail("%s and %s have the slot %s", pk, slots[at], at)
			} else {
				slots[at] = pk
			}
		}
		if r.Item.State == item.Scheduled || r.Item.State == item.Publishing {
			fail("%s is %s", pk, r.Item.State)
		}
		taken := false
		for _, p := range rows[r.Item.ID] {
			post := w.posts[p.ID]
			taken = taken || p.State == item.PublicationPublished
			switch {
			case p.State == item.PublicationPublished && (post == nil || p.PlatformPostID == nil ||
				*p.PlatformPostID != post.id):
				fail("%s is published as %v, and there is %+v", p.ID, p.PlatformPostID, post)
			case p.State == item.PublicationFailed && post != nil &&
				p.Failure.Code != string(platform.CodeOutcomeUnknown):
				fail("%s failed with %s, and there is a post", p.ID, p.Failure.Code)
			case p.State != item.PublicationPublished && p.State != item.PublicationFailed:
				fail("%s is %s", p.ID, p.State)
			}
		}
		if len(rows[r.Item.ID]) > 0 && (r.Item.State == item.Published) != taken {
			fail("%s is %s, and an account has taken it: %v", pk, r.Item.State, taken)
		}
	}
	for itemID := range rows {
		if !items[itemID] {
			fail("%s was deleted, and its publications are left", itemID)
		}
	}
}

// Open implements media.Objects. No import reads a file.
func (objects) Open(_ context.Context, key string) (io.ReadCloser, error) {
	return nil, errs.New(errs.NotFound, "There is no file %s.", key)
}

// List implements transfer.Lister. The objects of a simulation are those of its records.
func (objects) List(context.Context, string, string) ([]media.Object, bool, error) {
	return nil, false, nil
}

// RemoveSome implements transfer.Objects. No import has parts.
func (objects) RemoveSome(context.Context, string) (more bool, err error) { return false, nil }
