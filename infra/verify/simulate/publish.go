package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/engagement"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
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

var (
	_ platform.Replier        = stage{}
	_ platform.CommentHider   = stage{}
	_ platform.CommentDeleter = stage{}
)

// commenting describes a platform whose comments are read three times.
var commenting = platform.Commenting{Reads: true, Replies: true, Hides: true, Deletes: true,
	Text: platform.Text{Max: 8000}, ReadAt: []time.Duration{20 * time.Second, 2 * time.Minute, 10 * time.Minute}}

// remark adds comments of readers to a new post.
func (p *published) remark(w *world) {
	for n := range w.random.IntN(3) {
		p.comments = append(p.comments, platform.Comment{ID: fmt.Sprint(p.id, "-", n), Text: "Is it red?",
			Author: platform.Author{Handle: "@reader"}, At: time.Now()})
	}
}

// on returns the post that has an id, or nil.
func (w *world) on(id string) *published {
	for _, p := range w.posts {
		if p.id == id {
			return p
		}
	}
	return nil
}

// remarked calls a function with a comment and its post, unless the comment does not exist.
func (w *world) remarked(post, id string, do func(p *published, i int)) error {
	if p := w.on(post); p != nil {
		if i := slices.IndexFunc(p.comments, func(c platform.Comment) bool { return c.ID == id }); i >= 0 {
			do(p, i)
			return nil
		}
	}
	return platform.CommentGone()
}

// Comments implements platform.CommentReader.
func (s stage) Comments(ctx context.Context, a platform.Account, post platform.PublishedPost,
	_ string) (page platform.CommentPage, err error) {
	err = s.pass(ctx, "Comments", a, post.ID, platform.Busy(), func(w *world) error {
		p := w.on(post.ID)
		if p == nil {
			return platform.Reject(platform.CodePostNotFound, "Simulated.")
		}
		page.Comments = slices.Clone(p.comments)
		return nil
	})
	return page, err
}

// Reply implements platform.Replier.
func (s stage) Reply(ctx context.Context, a platform.Account, r platform.Reply) (id string, err error) {
	err = s.pass(ctx, "Reply", a, r.Key, platform.Lost(nil), func(w *world) error {
		return w.remarked(r.Post.ID, r.To.ID, func(p *published, _ int) {
			w.replies[r.Key]++
			id = fmt.Sprint(p.id, "-own-", len(w.replies), "-", w.replies[r.Key])
			p.comments = append(p.comments, platform.Comment{ID: id, ParentID: r.To.ID, Text: r.Text, At: time.Now(),
				Own: true})
		})
	})
	return id, err
}

// HideComment implements platform.CommentHider.
func (s stage) HideComment(ctx context.Context, a platform.Account, post platform.PublishedPost, id string,
	hidden bool) error {
	return s.pass(ctx, "HideComment", a, id, platform.Lost(nil), func(w *world) error {
		return w.remarked(post.ID, id, func(p *published, i int) { p.comments[i].Hidden = platform.Shown(hidden) })
	})
}

// DeleteComment implements platform.CommentDeleter.
func (s stage) DeleteComment(ctx context.Context, a platform.Account, post platform.PublishedPost, id string) error {
	err := s.pass(ctx, "DeleteComment", a, id, platform.Lost(nil), func(w *world) error {
		return w.remarked(post.ID, id, func(p *published, i int) { p.comments = slices.Delete(p.comments, i, i+1) })
	})
	if platform.Gone(err) {
		return nil
	}
	return err
}

// discuss publishes a post, waits for comments and answers some.
func (c *caller) discuss() {
	var one struct{ ID string }
	body := object{"factory_id": c.factory, "kind": "post", "source": "provided",
		"caption": fmt.Sprint("Any questions? ", c.calls)}
	if c.call(http.MethodPost, "/v1/content-items", body, &one) != http.StatusAccepted {
		return
	}
	path := "/v1/content-items/" + one.ID
	c.items = append(c.items, path)
	<-time.After(between(c.random, time.Second, 30*time.Second))
	c.call(http.MethodPost, "/v1/approvals/"+one.ID+"/approve", nil, nil)
	c.call(http.MethodPost, path+"/publish", object{"social_account_ids": c.accounts[:1]}, nil)
	for range 10 {
		<-time.After(between(c.random, time.Second, time.Minute))
		if c.random.IntN(4) > 0 {
			c.answer()
		}
	}
}

// answer replies to a comment, hides it, shows it or deletes it, if there is one.
func (c *caller) answer() {
	var all []struct {
		ID    string
		State string
	}
	c.call(http.MethodGet, "/v1/comments", nil, &all)
	if len(all) == 0 {
		return
	}
	one := all[c.random.IntN(len(all))]
	path := "/v1/comments/" + one.ID
	switch c.random.IntN(6) {
	case 0:
		c.call(http.MethodDelete, path, nil, nil)
	case 1:
		c.call(http.MethodPatch, path, object{"state": "hidden"}, nil)
	case 2:
		c.call(http.MethodPatch, path, object{"state": "visible"}, nil)
	default:
		c.call(http.MethodPost, path+"/replies", object{"text": fmt.Sprint("Yes ", c.calls)}, nil)
	}
}

// checkComments checks that no reply was written twice, that each reply and each change has ended, and that the
// platform has what they report.
func (w *world) checkComments(fail func(format string, args ...any)) {
	for key, times := range w.replies {
		if times > 1 {
			fail("the reply %s was written %d times", key, times)
		}
	}
	for _, it := range w.items() {
		if textOf(it, "kind") != engagement.Kind {
			continue
		}
		var r engagement.Record
		must(json.Unmarshal([]byte(textOf(it, "doc")), &r))
		if r.Change != nil && r.Change.State == engagement.Pending {
			fail("the change of %s has not ended", r.ID)
		}
		if r.Reply == nil {
			continue
		}
		switch times := w.replies[fmt.Sprint(r.ID, "-", r.Replies)]; {
		case r.Reply.State == engagement.Pending:
			fail("the reply to %s has not ended", r.ID)
		case r.Reply.State == engagement.Done && times != 1:
			fail("the reply to %s is reported, and was written %d times", r.ID, times)
		case r.Reply.State == engagement.Failed && times > 0 &&
			r.Reply.Failure.Code != string(platform.CodeOutcomeUnknown):
			fail("the reply to %s failed with %s, and was written", r.ID, r.Reply.Failure.Code)
		}
	}
}

// tokenLife is the life of a token, which is longer than a simulation: only a platform ends it before.
const tokenLife = 60 * 24 * time.Hour

// standing is what a platform thinks of an account.
type standing struct {
	// issued counts the tokens, of which only the last is good. A broken account has none that is good.
	issued   int
	issuedAt time.Time
	broken   bool
	// proven reports that the platform has given an answer that ends the account.
	proven bool
	// refused counts the calls with a token that is not good.
	refused int
}

// token is the n-th access token of an account.
func token(n int) platform.Secret { return platform.Secret(fmt.Sprint("token-", n)) }

// standing returns the standing of an account of a platform.
func (w *world) standing(s stage, a platform.Account) *standing {
	key := s.name + " " + a.ID
	if w.standings[key] == nil {
		w.standings[key] = &standing{}
	}
	return w.standings[key]
}

// refusal returns an answer of a platform other than that of a call that succeeds, or nil. The call has had no effect.
func (w *world) refusal(s stage, what string, a platform.Account) error {
	of := w.standing(s, a)
	if what == "Revoke" {
		return nil
	}
	if of.broken || of.issued > 0 && a.Token.Access != token(of.issued) {
		of.refused++
		return platform.TokenExpired().Saying("The token is not good.")
	}
	if w.calm || !chance(w.random, w.faults.Answer) {
		return nil
	}
	comments := what != "Start" && what != "Check" && what != "Finalize" && what != "Reconcile"
	switch w.random.IntN(8) {
	case 0, 1:
		of.issued++ // the present token has ended, at the second time soon after it was issued
		of.proven = of.proven || time.Since(of.issuedAt) < social.Fresh
		return platform.TokenExpired().Saying("The token has ended.")
	case 2:
		if w.random.IntN(4) == 0 {
			of.broken, of.proven = true, true
		}
		return platform.Limited(10 * time.Second)
	case 3:
		return platform.Full(time.Minute)
	case 4:
		return platform.Odd().Saying("Nobody knows why.")
	case 5:
		if what == "Reconcile" {
			return platform.Busy()
		}
		return platform.Reject(platform.CodeContentRefused, "Simulated.").Saying("The text is not good.")
	case 6: // the right for the call is missing, which ends the account only if the call publishes
		if !comments && w.random.IntN(3) > 0 {
			return platform.Busy()
		}
		of.proven = of.proven || !comments
		return platform.NeedsReconnect(platform.CodeMissingPermission, "Simulated.").Saying("The right is missing.")
	}
	return platform.Busy()
}

// Refresh implements platform.Connector.
func (s stage) Refresh(ctx context.Context, a platform.Account) (t platform.Token, err error) {
	w := invocationOf(ctx).world
	err = pass(ctx, &call{kind: toProvider, key: "Refresh " + s.name + " " + a.ID, refused: platform.Busy(),
		lost: platform.Busy(), do: func() error {
			of := w.standing(s, a)
			of.issued++
			of.issuedAt = time.Now()
			t = platform.Token{Access: token(of.issued), Refresh: "refresh", ExpiresAt: time.Now().Add(tokenLife)}
			return nil
		}})
	return t, err
}

// refreshed adds to the transaction the task that refreshes the token of a new account.
func (c *caller) refreshed(tx *store.Tx, r *social.Record) error {
	now := time.Now()
	ends := resource.Instant(now.Add(tokenLife))
	r.Connection, r.Tokens, r.RefreshedAt, r.TokenExpiresAt = 1, 1, now, &ends
	return task.Create(tx, now, task.Task{Message: task.Message{ID: task.ID(social.Refresh, r.ID, 1),
		Kind: social.Refresh, Queue: topology.Publish, Subject: r.ID, Owner: c.principal.Owner},
		DueAt: now.Add(tokenLife / 2)},
		social.Refreshing{Connection: 1})
}

// waits reports whether an item is a task that waits for a long time: that of a media file, until the file expires,
// that of the token of an account, or one that reads comments once its account is connected again.
func (w *world) waits(it attributes) bool {
	_, id, _ := strings.Cut(textOf(it, "pk"), "task#")
	kind, _, _ := strings.Cut(id, "#")
	switch task.Kind(kind) {
	case mediaarea.Kind, social.Refresh:
		return true
	case item.ReadComments:
		var t task.Task
		var p item.Reading
		must(json.Unmarshal([]byte(textOf(it, "doc")), &t))
		must(json.Unmarshal(t.Payload, &p))
		account, err := w.db().Lookup(context.Background(), store.IDKey(p.Account))
		must(err)
		if account.PK == "" {
			return true
		}
		r, err := social.Decode(&account)
		must(err)
		return !r.Usable()
	}
	return false
}

// checkAccounts checks that an account was lost only by an answer that ends it, and that a token which is not good was
// not used again and again.
func (w *world) checkAccounts(fail func(format string, args ...any)) {
	for _, it := range w.items() {
		if textOf(it, "kind") != social.Kind {
			continue
		}
		var r social.Record
		must(json.Unmarshal([]byte(textOf(it, "doc")), &r))
		of := w.standings[r.Platform+" "+r.PlatformID]
		if of == nil {
			continue
		}
		if r.State == social.NeedsReconnect && !of.proven {
			fail("%s was lost without a reason: %+v", r.ID, r.Failure)
		}
		if most := 20 + 10*of.issued; of.refused > most {
			fail("the platform has refused a token of %s in %d calls", r.ID, of.refused)
		}
	}
}
