package social_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/testdata/platforms/rutube"
)

// guess tries a password of a login.
func (w *world) guess(c *apitest.Caller, username, password string) apitest.Answer {
	return c.Call(http.MethodPost, "/v1/social/accounts", object{"platform": "rutube", "username": username,
		"password": password})
}

func TestPasswordsAreNotGuessedThroughTheService(t *testing.T) {
	w := newWorld(t)
	for i := range 10 {
		w.guess(w.Caller, rutube.Username, fmt.Sprint("guess ", i)).Refused(t, 422, errs.ValidationFailed, "/password")
		w.Clock.Add(time.Minute)
	}
	// the right password is no longer tried
	for _, username := range []string{rutube.Username, " " + rutube.Username + " "} {
		a := w.guess(w.Caller, username, rutube.Password)
		a.Refused(t, 429, errs.RateLimited, "")
		if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || seconds != 50*60 {
			t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
		}
		a.Context(t, `{"limit":10,"window_seconds":3600}`)
	}
	w.guess(w.Caller, "another", "x").Refused(t, 422, errs.ValidationFailed, "/password")
	w.guess(w.Stranger(), rutube.Username, "x").Refused(t, 422, errs.ValidationFailed, "/password")
	w.Clock.Add(50 * time.Minute)
	w.guess(w.Caller, rutube.Username, rutube.Password).Into(t, http.StatusCreated, new(social.Account))
	for _, row := range storetest.Rows(t, w.DB) {
		if row["kind"] == "attempts" && row["ttl"] == "" {
			t.Errorf("%s never ends", row["pk"])
		}
	}
}

func TestLoginsThatSucceedDoNotCount(t *testing.T) {
	w := newWorld(t)
	for range 30 {
		w.guess(w.Caller, rutube.Username, rutube.Password).Into(t, http.StatusCreated, new(social.Account))
	}
}

func TestGuessesSideBySideAreLimited(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	tried := 0
	var group sync.WaitGroup
	for i := range 24 {
		group.Go(func() {
			switch a := w.guess(w.Caller, rutube.Username, fmt.Sprint("guess ", i)); a.Status {
			case http.StatusUnprocessableEntity:
				mu.Lock()
				defer mu.Unlock()
				tried++
			case http.StatusTooManyRequests:
			default:
				t.Errorf("%s", a.Raw)
			}
		})
	}
	group.Wait()
	if tried == 0 || tried > 10 {
		t.Errorf("%d passwords were tried", tried)
	}
}

// One password is not tried with many logins either.
func TestManyLoginsAreLimited(t *testing.T) {
	w := newWorld(t)
	for i := range 50 {
		w.guess(w.Caller, fmt.Sprint("user", i), "123456").Refused(t, 422, errs.ValidationFailed, "/password")
	}
	w.guess(w.Caller, "user50", "123456").Refused(t, 429, errs.RateLimited, "")
}
