package area_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// studioPublic is an address that needs no look-up to be known as public.
const studioPublic = "https://93.184.215.14/a.png"

// studioWorld is the studio with an engine whose one provider is the sandbox.
type studioWorld struct {
	*servicetest.World
	engine   *generatetest.Engine
	provider *recorded
	urls     *studioWeb
	bucket   *studioBucket
}

// recorded records the requests to the sandbox.
type recorded struct {
	provider.Provider
	requests []provider.Request
	fail     error
}

func (r *recorded) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	r.requests = append(r.requests, req)
	if r.fail != nil {
		return provider.Submission{}, r.fail
	}
	return r.Provider.Submit(ctx, req)
}

func newStudioWorld(t *testing.T) *studioWorld {
	t.Helper()
	w := &studioWorld{World: servicetest.New(t)}
	w.urls, w.bucket = &studioWeb{Client: safehttp.New(safehttp.Options{}),
		files: map[string][]byte{studioPublic: wav(3)}},
		&studioBucket{objects: map[string][]byte{}}
	signer := apitest.Signer(t, w.Now, func(cfg *aws.Config) { cfg.HTTPClient = w.bucket })
	offer := catalog.NewOffer("fal,elevenlabs,polly,replicate", "us-west-2", nil)
	s := studio.NewService(w.DB, signer, w.urls, offer, w.Now)
	w.Serve(s, account.NewEvents(w.DB, signer), account.NewService(w.DB, w.Now))
	w.provider = &recorded{Provider: sandbox.New(w.Now)}
	w.engine = generatetest.New(t, w.DB, w.Clock, generatetest.Only{Provider: w.provider},
		map[string]generate.Loader{studio.ItemKind: studio.Loader{Sign: func(f media.File) (string,
			error) {
			return signer.URL(t.Context(), f.Key, f.MIMEType)
		}}})
	return w
}

func create(c *apitest.Caller, t *testing.T, path string, body object) (g studio.Generation) {
	t.Helper()
	c.Call(http.MethodPost, "/v1/studio/"+path, body).Into(t, http.StatusAccepted, &g)
	return g
}

func studioGet(c *apitest.Caller, t *testing.T, generationID string) (g studio.Generation) {
	t.Helper()
	c.Call(http.MethodGet, "/v1/studio/generations/"+generationID, nil).Into(t, http.StatusOK, &g)
	return g
}

// bodies has one body for each kind.
var bodies = map[string]struct {
	kind  provider.Kind
	body  object
	media media.Type
	model string // the default
}{
	"videos": {provider.KindVideo, object{"prompt": "A shoe", "aspect_ratio": "9:16", "duration_seconds": 6}, media.Video,
		"kling-3-turbo-pro"},
	"images": {provider.KindImage, object{"prompt": "A shoe", "aspect_ratio": "4:5", "count": 2}, media.Image,
		"flux-pro-1.1"},
	"music": {provider.KindMusic, object{"prompt": "Calm", "duration_seconds": 30}, media.Audio, "stable-audio-2.5"},
	"voices": {provider.KindVoice, object{"text": "Made of nets.", "language": "de-AT", "voice": "abc"}, media.Audio,
		"eleven-multilingual-2"},
	"avatars": {provider.KindAvatar, object{"text": "Made of nets, and of nothing else at all.", "image_url": studioPublic},
		media.Video, "heygen-avatar-4"},
}

func TestEachKindIsMadeAndPaidFor(t *testing.T) {
	for path, c := range bodies {
		t.Run(path, func(t *testing.T) {
			w := newStudioWorld(t)
			w.TopUp(1000)
			live := w.Live()
			var estimate studio.Estimate
			live.Call(http.MethodPost, "/v1/studio/estimates", object{"kind": c.kind, "input": c.body}).Into(t,
				http.StatusOK, &estimate)
			made := create(live, t, path, c.body)
			if made.Kind != c.kind || made.Model != c.model || made.State != studio.Queued ||
				made.CostCredits != 0 || len(made.Media) != 0 || !id.Valid(id.Generation, made.ID) {
				t.Errorf("%+v", made)
			}
			var input object
			raw, _ := json.Marshal(made.Input)
			if json.Unmarshal(raw, &input); len(input) < len(c.body) {
				t.Errorf("the input is %s", raw)
			}
			if w.Balance() != 1000-estimate.Credits || estimate.Credits == 0 || estimate.Model != c.model ||
				estimate.Price == nil {
				t.Errorf("estimated as %+v, the balance is %d", estimate, w.Balance())
			}
			w.engine.Drain()
			got := studioGet(live, t, made.ID)
			if got.State != studio.Generated || got.Progress != 100 || got.Failure != nil ||
				got.CostCredits != estimate.Credits || len(got.Media) == 0 || got.Media[0].Type != c.media {
				t.Errorf("%+v", got)
			}
			if want, _ := c.body["count"].(int); want > 0 && len(got.Media) != want {
				t.Errorf("%d files, want %d", len(got.Media), want)
			}
			if w.Balance() != 1000-estimate.Credits {
				t.Errorf("charged %d, estimated %d", 1000-w.Balance(), estimate.Credits)
			}
			req := w.provider.requests[0]
			m, _ := catalog.Find(c.model)
			if len(w.provider.requests) != 1 || req.Kind != c.kind || req.Model != m.ProviderModel ||
				req.ClientToken == "" {
				t.Errorf("%+v", w.provider.requests)
			}
			events := apitest.All[event.Event](live, "/v1/events", 10)
			var shown studio.Generation
			if len(events) != 1 || events[0].Type != event.StudioGenerated || json.Unmarshal(events[0].Data.Object,
				&shown) != nil || !reflect.DeepEqual(shown, got) {
				t.Errorf("the events are %+v", events)
			}
		})
	}
}

func TestATestKeySpendsNothing(t *testing.T) {
	for _, outcome := range []studio.State{studio.Generated, studio.Failed} {
		w := newStudioWorld(t)
		made := create(w.Caller, t, "images",
			object{"prompt": "A shoe", "sandbox": object{"outcome": outcome, "delay_seconds": 20}})
		begun := w.Now()
		w.engine.Step()
		w.engine.Step()
		if got := studioGet(w.Caller, t, made.ID); got.State != studio.Generating {
			t.Errorf("%+v", got)
		}
		w.engine.Drain()
		got := studioGet(w.Caller, t, made.ID)
		if took := w.Now().Sub(begun); got.State != outcome || took < 20*time.Second || took > 25*time.Second ||
			got.CostCredits != 0 {
			t.Errorf("after %v: %+v", took, got)
		}
		if failed := outcome == studio.Failed; failed != (got.Failure != nil) || failed != (len(got.Media) == 0) ||
			failed && (got.Failure.Code != provider.FailedGeneration || !got.Failure.Retryable) {
			t.Errorf("%+v", got.Failure)
		}
		types := map[studio.State]event.Type{studio.Generated: event.StudioGenerated,
			studio.Failed: event.StudioFailed}
		if events := apitest.All[event.Event](w.Caller, "/v1/events", 10); len(events) != 1 ||
			events[0].Type != types[outcome] {
			t.Errorf("the events are %+v", events)
		}
		if _, err := w.DB.Get(t.Context(), ledger.BalanceKey(w.Principal.Account)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a test key has a balance: %v", err)
		}
	}
}

func TestWhatFailsCostsNothing(t *testing.T) {
	w := newStudioWorld(t)
	w.TopUp(100)
	w.provider.fail = &provider.Error{Kind: provider.Rejected, Code: "content_policy",
		Message: "The prompt was refused."}
	made := create(w.Live(), t, "images", object{"prompt": "A shoe"})
	if w.Balance() != 96 {
		t.Errorf("the balance is %d", w.Balance())
	}
	w.engine.Drain()
	got := studioGet(w.Live(), t, made.ID)
	if got.State != studio.Failed || got.Failure == nil ||
		*got.Failure != (studio.Failure{Code: "content_policy", Message: "The prompt was refused. Nothing was " +
			"charged. Change the request, or choose another model.", Retryable: true}) || got.CostCredits != 0 ||
		w.Balance() != 100 {
		t.Errorf("%+v, %+v; the balance is %d", got, got.Failure, w.Balance())
	}
}

func TestProgressIsShown(t *testing.T) {
	w := newStudioWorld(t)
	made := create(w.Caller, t, "images", object{"prompt": "A shoe", "sandbox": object{"delay_seconds": 60}})
	w.engine.Step()
	w.Clock.Add(30 * time.Second)
	w.engine.Step()
	if got := studioGet(w.Caller, t, made.ID); got.Progress < 40 || got.Progress > 60 ||
		got.State != studio.Generating {
		t.Errorf("%+v", got)
	}
}

// DELETE cancels a running generation and returns it, and deletes one that has ended.
func TestCancelAndDelete(t *testing.T) {
	for steps := range 10 {
		w := newStudioWorld(t)
		w.TopUp(100)
		live := w.Live()
		made := create(live, t, "images", object{"prompt": "A shoe"})
		for range steps {
			w.engine.Step()
		}
		was := studioGet(live, t, made.ID)
		path := "/v1/studio/generations/" + made.ID
		remove := func(key string) (left studio.Generation) {
			t.Helper()
			first := live.Call(http.MethodDelete, path, nil, "Idempotency-Key", key)
			first.Into(t, http.StatusOK, &left)
			if again := live.Call(http.MethodDelete, path, nil, "Idempotency-Key", key); again.Raw != first.Raw ||
				again.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("repeated: %d %s", again.Status, again.Raw)
			}
			return left
		}
		live.Call(http.MethodDelete, path, nil, "If-Match", `"99"`).Refused(t, 412, errs.VersionMismatch, "If-Match")
		w.Caller.Call(http.MethodDelete, path, nil).Refused(t, 404, errs.NotFound, "")
		state, balance := was.State, int64(100)
		if was.State == studio.Generated || was.Progress >= 90 { // the provider has made it
			balance = 96
		}
		if runs := was.State != studio.Generated; runs {
			state = studio.Canceled
			left, listed := remove("cancel"),
				apitest.All[studio.Generation](live, "/v1/studio/generations?state=canceled", 10)
			now := studioGet(live, t, made.ID)
			if left.State != studio.Canceled || left.CostCredits != 100-balance || left.Version != was.Version+1 ||
				!reflect.DeepEqual(left, now) || len(listed) != 1 || !reflect.DeepEqual(listed[0], now) {
				t.Errorf("after %d steps: %+v, read as %+v, listed as %+v", steps, left, now, listed)
			}
			w.engine.Drain()
			if got := studioGet(live, t, made.ID); !reflect.DeepEqual(got, now) {
				t.Errorf("after %d steps: it became %+v", steps, got)
			}
		}
		left := remove("delete")
		live.Call(http.MethodGet, path, nil).Refused(t, 404, errs.NotFound, "")
		live.Call(http.MethodDelete, path, nil).Refused(t, 404, errs.NotFound, "")
		if left.State != state || len(left.Media) != 0 || w.Balance() != balance || left.CostCredits != 100-balance {
			t.Errorf("after %d steps: %+v; the balance is %d", steps, left, w.Balance())
		}
		w.engine.Drain()
		if keys := w.engine.Objects.Keys(); len(keys) != 0 || w.Balance() != balance {
			t.Errorf("after %d steps: there is still %v; the balance is %d", steps, keys, w.Balance())
		}
		events := apitest.All[event.Event](live, "/v1/events", 10)
		if was.State == studio.Generated {
			if len(events) != 1 {
				t.Errorf("%+v", events)
			}
			return
		}
		if len(events) != 0 {
			t.Errorf("what was canceled has the events %+v", events)
		}
	}
	t.Error("it is never generated")
}

func TestWhatIsRefusedOfStudio(t *testing.T) {
	w := newStudioWorld(t)
	w.TopUp(100)
	live := w.Live()
	const invalid = errs.ValidationFailed
	for name, c := range map[string]struct {
		caller *apitest.Caller
		path   string
		body   any
		status int
		code   errs.Code
		param  string
	}{
		"no prompt":                {live, "images", object{}, 422, invalid, "/prompt"},
		"a blank prompt":           {live, "images", object{"prompt": " \n"}, 422, invalid, "/prompt"},
		"a member of another kind": {live, "images", object{"prompt": "x", "duration_seconds": 3}, 422, invalid, "/duration_seconds"},
		"an unknown model": {live, "images", object{"prompt": "x", "model": "dall-e"}, 422,
			errs.UnsupportedModel, "/model"},
		"a retired model": {live, "images", object{"prompt": "x", "model": "nano-banana-2"}, 422,
			errs.UnsupportedModel, "/model"},
		"a model of another kind": {live, "images", object{"prompt": "x", "model": "veo-3.1"}, 422,
			errs.UnsupportedModel, "/model"},
		"a model in preview": {live, "avatars", object{"text": "x", "model": "heygen-3"}, 422,
			errs.UnsupportedModel, "/model"},
		"a provider that is not here": {live, "images", object{"prompt": "x", "model": "stable-image-core"}, 422,
			errs.UnsupportedModel, "/model"},
		"another ratio": {live, "images", object{"prompt": "x", "aspect_ratio": "7:1"}, 422, invalid,
			"/aspect_ratio"},
		"five images": {live, "images", object{"prompt": "x", "count": 5}, 422, invalid, "/count"},
		"another length": {live, "videos", object{"prompt": "x", "model": "veo-3.1", "duration_seconds": 5}, 422,
			invalid, "/duration_seconds"},
		"no image to start from": {live, "videos", object{"prompt": "x", "model": "kling-2.5-turbo-pro"}, 422,
			invalid, "/image_url"},
		"an image over http": {live, "videos", object{"prompt": "x", "model": "kling-2.5-turbo-pro",
			"image_url": "http://93.184.215.14/a.png"}, 422, invalid, "/image_url"},
		"two private addresses": {live, "avatars", object{"audio_url": "https://169.254.169.254/",
			"image_url": "https://10.0.0.1/", "model": "omnihuman-1.5"}, 422, invalid, "/image_url"},
		"a private image": {live, "videos", object{"prompt": "x", "model": "kling-2.5-turbo-pro",
			"image_url": "https://169.254.169.254/"}, 422, invalid, "/image_url"},
		"a language": {live, "voices", object{"text": "x", "model": "polly-generative",
			"language": "is"}, 422, invalid, "/language"},
		"a voice with a path": {live, "voices", object{"text": "x", "voice": "../x"}, 422, invalid, "/voice"},
		"nothing to say":      {live, "avatars", object{"image_url": studioPublic}, 422, invalid, "/text"},
		"text and speech": {live, "avatars", object{"text": "x", "audio_url": studioPublic, "image_url": studioPublic},
			422, invalid, "/audio_url"},
		"speech that is not there": {live, "avatars", object{"audio_url": studioPublic + "?", "image_url": studioPublic}, 422,
			errs.UnsupportedMedia, "/audio_url"},
		"a length of text": {live, "avatars", object{"text": "x", "duration_seconds": 3, "image_url": studioPublic}, 422,
			invalid, "/duration_seconds"},
		"lyrics that nobody sings": {live, "music", object{"prompt": "x", "lyrics": "la"}, 422, invalid, "/lyrics"},
		"a rehearsal with a live key": {live, "images", object{"prompt": "x", "sandbox": object{}}, 422,
			invalid, "/sandbox"},
		"another outcome": {w.Caller, "images",
			object{"prompt": "x", "sandbox": object{"outcome": "published"}}, 422, invalid, "/sandbox/outcome"},
		"too dear": {live, "videos", object{"prompt": "x", "duration_seconds": 15}, 402,
			errs.InsufficientBalance, ""},
		"no body": {live, "images", nil, 400, errs.MalformedJSON, ""},
		"an estimate of text": {live, "estimates", object{"kind": "text", "input": object{"prompt": "x"}}, 422,
			invalid, "/kind"},
		"an estimate, another kind's": {live, "estimates",
			object{"kind": "image", "input": object{"prompt": "x", "duration_seconds": 3}}, 422, invalid, "/input/duration_seconds"},
		"an estimate, an empty one": {live, "estimates",
			object{"kind": "image", "input": object{"prompt": "x", "text": ""}}, 422, invalid, "/input/text"},
		"an estimate, a null": {live, "estimates",
			object{"kind": "image", "input": object{"prompt": "x", "lyrics": nil}}, 422, invalid, "/input/lyrics"},
		"an estimate, unknown member": {live, "estimates",
			object{"kind": "image", "input": object{"prompt": "x", "ratio": "1:1"}}, 422, invalid, "/input/ratio"},
		"an estimate, no input": {live, "estimates", object{"kind": "image", "input": "x"}, 422,
			invalid, "/input"},
		"a language that is none": {live, "avatars", object{"text": "x", "image_url": studioPublic, "language": "%%"},
			422, invalid, "/language"},
		"an estimate, another ratio": {live, "estimates",
			object{"kind": "image", "input": object{"prompt": "x", "aspect_ratio": "7:1"}}, 422, invalid,
			"/input/aspect_ratio"},
		"an estimate without a price": {w.Caller, "estimates", object{"kind": "avatar", "model": "heygen-3",
			"input": object{"text": "x"}}, 422, errs.UnsupportedModel, "/model"},
	} {
		before := storetest.Snapshot(t, w.DB, "attempts")
		t.Run(name, func(t *testing.T) {
			c.caller.Call(http.MethodPost, "/v1/studio/"+c.path, c.body).Refused(t, c.status, c.code, c.param)
		})
		if storetest.Snapshot(t, w.DB, "attempts") != before {
			t.Errorf("%s: something was made or reserved", name)
		}
	}
	tx := &store.Tx{}
	tx.Count(store.IDKey("waiting#"+string(w.Principal.Account)+"#live"), generate.MaxWaiting, generate.MaxWaiting, nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	full := live.Call(http.MethodPost, "/v1/studio/images", object{"prompt": "x"})
	full.Refused(t, 429, errs.QueueFull, "")
	if full.Header.Get("Retry-After") == "" || w.Balance() != 100 {
		t.Errorf("%v; the balance is %d", full.Header, w.Balance())
	}
}

func TestList(t *testing.T) {
	w := newStudioWorld(t)
	var ids []string
	for path, c := range bodies {
		ids = append(ids, create(w.Caller, t, path, c.body).ID)
		w.Clock.Add(time.Second)
	}
	slices.Reverse(ids)
	w.engine.Drain()
	create(w.Caller, t, "images", object{"prompt": "A shoe", "model": "flux-schnell"})
	all := apitest.All[studio.Generation](w.Caller, "/v1/studio/generations", 2)
	if len(all) != 6 {
		t.Fatalf("%d generations", len(all))
	}
	for i, g := range all[1:] {
		if g.ID != ids[i] {
			t.Errorf("%d is %s, want %s", i, g.ID, ids[i])
		}
	}
	for query, want := range map[string]int{
		"kind=image": 2, "state=generated": 5, "state=queued": 1, "kind=image,video": 3, "state=queued,generated": 6,
		"kind=image,voice&state=generated,failed": 2, "model=flux-schnell": 1, "kind=image&state=generated": 1,
		"kind=avatar&model=flux-schnell": 0,
		"from=2026-05-01T13:00:00Z":      0, "to=2026-05-01T13:00:00Z": 6,
	} {
		if got := apitest.All[studio.Generation](w.Caller, "/v1/studio/generations?"+query, 10); len(got) != want {
			t.Errorf("%s: %d, want %d", query, len(got), want)
		}
	}
	for name, c := range map[string]*apitest.Caller{"live": w.Live(), "stranger": w.Stranger()} {
		if got := apitest.All[studio.Generation](c, "/v1/studio/generations", 10); len(got) != 0 {
			t.Errorf("%s sees %+v", name, got)
		}
		c.Call(http.MethodGet, "/v1/studio/generations/"+ids[0], nil).Refused(t, 404, errs.NotFound, "")
	}
	w.Caller.Call(http.MethodGet, "/v1/studio/generations?cursor=x", nil).Refused(t, 400, errs.InvalidCursor, "cursor")
}

func TestARepeatedCallMakesOneAndPaysOnce(t *testing.T) {
	w := newStudioWorld(t)
	w.TopUp(100)
	live := w.Live()
	first := live.Call(http.MethodPost, "/v1/studio/images", object{"prompt": "A shoe"}, "Idempotency-Key", "k")
	again := live.Call(http.MethodPost, "/v1/studio/images", object{"prompt": "A shoe"}, "Idempotency-Key", "k")
	if first.Status != http.StatusAccepted || again.Raw != first.Raw ||
		again.Header.Get("Idempotent-Replayed") != "true" || w.Balance() != 96 {
		t.Errorf("%s\n%s\nthe balance is %d", first.Raw, again.Raw, w.Balance())
	}
	if !strings.Contains(first.Raw, `"state":"queued"`) {
		t.Errorf("%s", first.Raw)
	}
	w.engine.Drain()
	if n := len(w.provider.requests); n != 1 || w.Balance() != 96 {
		t.Errorf("%d generations; the balance is %d", n, w.Balance())
	}
}
