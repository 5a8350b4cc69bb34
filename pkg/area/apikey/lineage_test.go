package apikey_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

// childOf makes a key with a key that manages others.
func (w *world) childOf(k apikey.NewKey, members ...any) (child apikey.NewKey) {
	w.T.Helper()
	w.with(k, auth.AccountManage, auth.ContentRead).Call(http.MethodPost, "/v1/api-keys",
		body(append([]any{"scopes", manager}, members...)...)).Into(w.T, http.StatusCreated, &child)
	w.Clock.Add(time.Second)
	return child
}

// makers checks which keys pay for what a secret spends, with their limits, as the authorizer learns in one round trip.
func (w *world) makers(what, secret string, want ...auth.KeyLimit) {
	w.T.Helper()
	got, _ := w.secret(secret)
	if !slices.EqualFunc(got.Makers, want, func(a, b auth.KeyLimit) bool {
		return a.Key == b.Key && (a.Limit == nil) == (b.Limit == nil) && (a.Limit == nil || *a.Limit == *b.Limit)
	}) {
		w.T.Errorf("%s: %+v", what, got.Makers)
	}
}

func TestTheMakersOfAKeyPayWithIt(t *testing.T) {
	w := newWorld(t)
	parent := w.create("scopes", manager, "spend_limit_credits", 5)
	first := parent.CreatedBy
	child := w.childOf(parent, "spend_limit_credits", 5)
	grandchild := w.childOf(child, "spend_limit_credits", 3)
	of := func(k apikey.NewKey, limit int64) auth.KeyLimit { return auth.KeyLimit{Key: k.ID, Limit: &limit} }
	root := auth.KeyLimit{Key: first}
	w.makers("a key", parent.Secret, root)
	w.makers("its key", child.Secret, of(parent, 5), root)
	w.makers("the key of its key", grandchild.Secret, of(child, 5), of(parent, 5), root)
	// A new limit counts at once, also for secrets that are rotated.
	old := grandchild.Secret
	grandchild = w.rotate(grandchild, time.Hour)
	w.patch(parent, object{"spend_limit_credits": 1})
	for _, secret := range []string{old, grandchild.Secret} {
		w.makers("after a change of the limit", secret, of(child, 5), of(parent, 1), root)
	}
	w.patch(child, object{"spend_limit_credits": nil})
	grandchild = w.rotate(grandchild, 0)
	w.makers("after a rotation", grandchild.Secret, auth.KeyLimit{Key: child.ID}, of(parent, 1), root)
	// Other changes keep the makers.
	w.patch(grandchild, object{"name": "Another"})
	w.makers("after another change", grandchild.Secret, auth.KeyLimit{Key: child.ID}, of(parent, 1), root)
	last := w.childOf(grandchild, "spend_limit_credits", 1)
	w.refused(w.with(last, auth.AccountManage, auth.ContentRead), []rejectedCall{{"a key through too many",
		http.MethodPost, "/v1/api-keys", body("spend_limit_credits", 1), http.StatusConflict, errs.InvalidState, ""}})
}

// A limit that changes while a key is made or rotated counts for it: one of the two is tried again.
func TestALimitThatChangesWhileAKeyIsMade(t *testing.T) {
	w := newWorld(t)
	parent := w.create("scopes", manager, "spend_limit_credits", 9)
	child := w.childOf(parent, "spend_limit_credits", 9)
	limit := int64(4)
	for name, act := range map[string]func() string{
		"made":    func() string { return w.childOf(child, "spend_limit_credits", 3).Secret },
		"rotated": func() string { return w.rotate(child, 0).Secret },
	} {
		limit--
		w.Faults.Before("TransactWriteItems", func() { w.patch(parent, object{"spend_limit_credits": limit}) })
		got, _ := w.secret(act())
		w.Faults.Reset()
		i := slices.IndexFunc(got.Makers, func(k auth.KeyLimit) bool { return k.Key == parent.ID })
		if i < 0 || *got.Makers[i].Limit != limit {
			t.Errorf("%s: %+v", name, got.Makers)
		}
	}
}
