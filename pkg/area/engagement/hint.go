package engagement

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// hooks is what a webhook may have. Those that are forms have few values.
var hooks = budget.Budget{Name: "webhook of a " +
	"platform", Bytes: maxHook, Elements: 20_000, Depth: 50, Time: 5 * time.Second}

const (
	// param is the parameter that names the platform in the address of its webhooks, which is that of the callback.
	param = "hook"
	// maxHook is the size of the largest webhook, and maxAnnounced bounds the posts of one. The comments on other posts
	// are read at their usual times.
	maxHook      = 256 << 10
	maxAnnounced = 100
	// sameHook is the time within which a webhook with the same content is a repeat.
	sameHook = time.Hour
)

// Hints receives webhooks.
type Hints struct {
	db        *store.DB
	platforms *social.Platforms
	now       func() time.Time
}

// NewHints returns the service.
func NewHints(db *store.DB, platforms *social.Platforms, now func() time.Time) *Hints {
	return &Hints{db, platforms, now}
}

// OpenHints opens the service of a function.
func OpenHints(e area.Env) *Hints { return NewHints(e.DB, social.OpenPlatforms(e), e.Now) }

// With returns the handler of the function. It serves the webhooks, which need no key, and all else.
func (s *Hints) With(others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == social.CallbackPath && req.URL.Query().Has(param) {
			s.hook(w, req)
			return
		}
		others.ServeHTTP(w, req)
	})
}

func (s *Hints) hook(w http.ResponseWriter, req *http.Request) {
	status, answer := s.hooked(req)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := io.WriteString(w, answer); err != nil {
		slog.Info("the sender of a webhook has gone", "error", err)
	}
}

func (s *Hints) hooked(req *http.Request) (status int, answer string) {
	ctx, name := req.Context(), req.URL.Query().Get(param)
	adapter, _ := s.platforms.Of(tenant.Live, name)
	from, ok := adapter.(platform.Announcer)
	switch {
	case !ok:
		return http.StatusNotFound, ""
	case req.Method != http.MethodGet && req.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, ""
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxHook+1))
	if err != nil || len(body) > maxHook || hooks.JSON(ctx, body) != nil {
		return http.StatusRequestEntityTooLarge, ""
	}
	posts, answer, err := from.Announced(ctx, platform.Hook{Method: req.Method, Query: req.URL.Query(),
		Header: req.Header, Body: body})
	switch {
	case errors.Is(err, platform.ErrForged):
		return http.StatusForbidden, ""
	case platform.CodeOf(err) == platform.CodeNotConfigured:
		return http.StatusNotFound, ""
	case err == nil:
		err = s.announce(ctx, name, posts, body)
	}
	if err != nil {
		slog.Error("webhook of a platform not taken", "platform", name, "error", err)
		return http.StatusServiceUnavailable, "" // the platform sends it again
	}
	return http.StatusOK, answer
}

// announce has the comments on posts read now. A post that no connected account has published has no effect, nor has a
// repeat of the webhook.
func (s *Hints) announce(ctx context.Context, name string, posts []platform.Announced, body []byte) error {
	sum := sha256.Sum256(body)
	seen := map[store.Key]bool{}
	for _, p := range posts[:min(len(posts), maxAnnounced)] {
		key := item.PostKey(name, p.Account, p.Post)
		if seen[key] || len(p.Account)+len(p.Post) > 500 {
			continue
		}
		seen[key] = true
		if err := s.wake(ctx, key, hex.EncodeToString(sum[:12])); err != nil {
			return err
		}
	}
	return nil
}

// wake has the comments on the post at a key read now. The argument version names the webhook.
func (s *Hints) wake(ctx context.Context, key store.Key, version string) error {
	it, err := s.db.Lookup(ctx, key)
	if err != nil || it.PK == "" {
		return err
	}
	var of item.Announced
	if err := it.Decode(&of); err != nil {
		return err
	}
	account, err := s.db.Lookup(ctx, store.IDKey(of.Account))
	if err != nil || !social.Is(account, it.Owner) {
		return err
	}
	r, err := social.Decode(&account)
	if err != nil || !r.Usable() {
		return err
	}
	now, tx := s.now(), &store.Tx{}
	tx.CreateExpiring(store.Item{Key: store.IDKey("hook#" + of.Publication + "#" + version), Kind: "platform_hook",
		Owner: it.Owner, ExpireAt: now.Add(sameHook)}, now.Unix(), store.ErrConflict)
	if err := Wake(tx, now, it.Owner, of.Item, of.Publication); err != nil {
		return err
	}
	if err := s.db.Commit(ctx, tx); !errors.Is(err, store.ErrConflict) {
		return err
	}
	return nil // a repeat
}
