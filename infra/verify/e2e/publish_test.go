package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/testdata/platforms/rutube"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

type published struct {
	ID, State    string
	Version      int64
	PublishAt    *string `json:"publish_at"`
	Publications []publicationView
}

type publicationView struct {
	ID, State, Platform string
	URL                 *string
	Failure             *struct{ Code, Message string }
	Metrics             *struct{ Views *int64 }
}

// channel connects the channel of the fake of Telegram.
func (c *customer) channel(secret string) string {
	c.t.Helper()
	note(telegram.Token)
	return into[struct{ ID string }](call(c.t, secret, http.MethodPost, "/v1/social/accounts", object{
		"platform": "telegram", "bot_token": telegram.Token, "channel": telegram.Channel,
	}), http.StatusCreated).ID
}

// login connects the account of the fake of Rutube.
func (c *customer) login(secret string) string {
	c.t.Helper()
	note(rutube.Password)
	return into[struct{ ID string }](call(c.t, secret, http.MethodPost, "/v1/social/accounts", object{
		"platform": "rutube", "username": rutube.Username, "password": rutube.Password,
	}), http.StatusCreated).ID
}

// post makes an item with a caption, and waits until it is generated.
func (c *customer) post(secret, factory, caption string) string {
	c.t.Helper()
	made := into[contentItem](call(c.t, secret, http.MethodPost, contentPath,
		object{"factory_id": factory, "kind": "post", "prompt": "A shoe made of recycled nets", "caption": caption}),
		http.StatusAccepted)
	if got := ended(c.t, secret, made.ID); got.State != "generated" {
		c.t.Fatalf("%+v", got)
	}
	return made.ID
}

// until waits for a state of an item.
func until(t *testing.T, secret, itemID, state string) (got published) {
	t.Helper()
	poll.Until(t, itemID+" is "+state, func() bool {
		got = into[published](call(t, secret, http.MethodGet, contentPath+"/"+itemID, nil), http.StatusOK)
		return got.State == state
	})
	return got
}

// posts counts the posts of the fakes that contain a text.
func posts(t *testing.T, text string) int {
	t.Helper()
	resp, err := http.Get(running.Platforms + "/_posts")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(all), text)
}

// wake makes a task take its next step at once.
func (c *customer) wake(mode tenant.Mode, kind task.Kind, subject, of string) {
	c.t.Helper()
	tx := &store.Tx{}
	err := task.Wake(tx, time.Now(), task.Message{ID: task.ID(kind, of, 1), Kind: kind, Queue: topology.Publish,
		Subject: subject, Owner: tenant.Of(tenant.Account(c.id), mode)})
	if err == nil {
		err = store.Open(running.AWS(), running.Table).Commit(c.t.Context(), tx)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// An item is scheduled and published at its time, and its metrics are read: with a test key in
// the sandbox, and with a live key on the fakes of the platforms.
func TestPublishing(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(1000)
	for mode, secret := range map[tenant.Mode]string{tenant.Test: c.test.Secret, tenant.Live: c.live.Secret} {
		t.Run(string(mode), func(t *testing.T) {
			factory := c.factory(secret)
			account := c.channel(secret)
			into[object](call(t, secret, http.MethodPut, "/v1/factories/"+factory+"/social-accounts/"+account, nil),
				http.StatusOK)
			caption := "Made of nets by " + c.id + " " + string(mode)
			item := c.post(secret, factory, caption)
			at := contentPath + "/" + item

			if a := call(t, secret, http.MethodPost, at+"/schedule",
				object{"publish_at": time.Now().Add(-time.Minute)}); a.refused(http.StatusUnprocessableEntity,
				"validation_failed") != nil || a.Error.Param != "/publish_at" {
				t.Errorf("%s", a.Raw)
			}
			if a := call(t, secret, http.MethodPost, at+"/schedule", object{"publish_at": time.Now().Add(time.Hour),
				"options": object{"telegram": object{"disable_duet": true}}}); a.refused(http.StatusUnprocessableEntity,
				"validation_failed") != nil || a.Error.Param != "/options/telegram/disable_duet" {
				t.Errorf("%s", a.Raw)
			}
			later := into[published](call(t, secret, http.MethodPost, at+"/schedule",
				object{"publish_at": time.Now().Add(time.Hour)}), http.StatusOK)
			if later.State != "scheduled" || len(later.Publications) != 1 || later.Publications[0].State != "pending" {
				t.Errorf("%+v", later)
			}
			if got := into[published](call(t, secret, http.MethodPost, at+"/schedule", object{"publish_at": nil}),
				http.StatusOK); got.State != "generated" || got.PublishAt != nil {
				t.Errorf("%+v", got)
			}
			began := time.Now()
			into[published](call(t, secret, http.MethodPost, at+"/schedule",
				object{"publish_at": began.Add(3 * time.Second),
					"options": object{"telegram": object{"silent": true}}}), http.StatusOK)
			got := until(t, secret, item, "published")
			if early := 3*time.Second - time.Since(began); early > 0 {
				t.Errorf("it was published %v early", early)
			}
			if p := got.Publications[0]; p.State != "published" || p.URL == nil {
				t.Errorf("%+v", p)
			}
			if n := posts(t, caption); (n == 1) != (mode == tenant.Live) || n > 1 {
				t.Errorf("there are %d posts", n)
			}
			into[object](call(t, secret, http.MethodDelete, at, nil), http.StatusOK)
		})
	}
}

// If one account fails, a repeat does not post again on the accounts that succeeded. The metrics
// of posts are read.
func TestPublishingAgain(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	secret := c.test.Secret
	factory := c.factory(secret)
	made := into[contentItem](call(t, secret, http.MethodPost, contentPath,
		object{"factory_id": factory, "kind": "video", "visuals": "stills", "duration_seconds": 10,
			"prompt": "A shoe made of recycled nets"}), http.StatusAccepted)
	if got := ended(t, secret, made.ID); got.State != "generated" {
		t.Fatalf("%+v", got)
	}
	at := contentPath + "/" + made.ID
	accounts := []string{c.login(secret), c.channel(secret)}
	if a := call(t, secret, http.MethodPost, at+"/publish",
		object{"social_account_ids": []string{accounts[0], "soc_01h455vb4pex5vsknk084sn02q"}}); a.refused(
		http.StatusNotFound, "not_found") != nil {
		t.Errorf("%s", a.Raw)
	}
	into[published](call(t, secret, http.MethodPost, at+"/publish",
		object{"social_account_ids": accounts,
			"sandbox": object{"outcome": "failed", "failure_code": "content_policy"}}), http.StatusAccepted)
	if got := until(t, secret, made.ID, "failed"); got.Publications[0].Failure == nil ||
		got.Publications[0].Failure.Code != "content_policy" {
		t.Errorf("%+v", got)
	}
	into[published](call(t, secret, http.MethodPost, at+"/publish", object{"social_account_ids": accounts[:1]}),
		http.StatusAccepted)
	got := until(t, secret, made.ID, "published")
	if got.Publications[0].State != "published" || got.Publications[1].State != "failed" {
		t.Fatalf("%+v", got)
	}
	first := *got.Publications[0].URL
	into[published](call(t, secret, http.MethodPost, at+"/publish", nil), http.StatusAccepted)
	if got = until(t, secret, made.ID, "published"); got.Publications[1].State != "published" ||
		*got.Publications[0].URL != first {
		t.Errorf("%+v", got)
	}
	if err := call(t, secret, http.MethodPost, at+"/publish", nil).refused(http.StatusConflict,
		"invalid_state"); err != nil {
		t.Error(err)
	}
	c.wake(tenant.Test, publication.Read, made.ID, got.Publications[0].ID)
	poll.Until(t, "the metrics of "+made.ID, func() bool {
		all := into[[]struct{ Metrics *struct{ Views *int64 } }](call(t, secret, http.MethodGet, at+"/publications",
			nil), http.StatusOK)
		return len(all) == 2 && all[0].Metrics != nil && all[0].Metrics.Views != nil
	})
}

// A factory publishes its generated content on its accounts.
func TestAutomaticPublishing(t *testing.T) {
	c := newCustomer(t)
	secret := c.test.Secret
	factory := c.factory(secret)
	into[object](call(t, secret, http.MethodPut, "/v1/factories/"+factory+"/social-accounts/"+c.channel(secret), nil),
		http.StatusOK)
	into[object](call(t, secret, http.MethodPatch, "/v1/factories/"+factory, object{"auto_publish": true}),
		http.StatusOK)
	made := into[contentItem](call(t, secret, http.MethodPost, contentPath,
		object{"factory_id": factory, "kind": "post", "prompt": "A shoe"}), http.StatusAccepted)
	if got := until(t, secret, made.ID, "published"); len(got.Publications) != 1 {
		t.Errorf("%+v", got)
	}
}
