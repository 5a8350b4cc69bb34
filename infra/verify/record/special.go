package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/media/incoming"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// refusals are those of single operations, each made in an account of its own.
var refusals = map[string]map[errs.Code]spoiler{
	"createApiKey": {
		errs.ValidationFailed: member("ip_allow_list", []string{"192.0.2.0/240"}),
		errs.ScopeEscalation:  narrow,
		errs.InvalidState:     untilRefused,
	},
	"updateApiKey": {
		errs.ValidationFailed: member("name", ""),
		errs.ScopeEscalation:  both(narrow, member("scopes", []string{"content:publish"})),
		errs.InvalidState:     after("revokeApiKey"),
	},
	"rotateApiKey": {
		errs.ScopeEscalation: narrow,
		errs.InvalidState:    after("revokeApiKey"),
	},

	"createFactory": {
		errs.ValidationFailed: member("type", "bakery"),
		errs.UnsupportedModel: member("models", metered.Object{"image": "paintbrush-1"}),
	},
	"getFactoryAnalytics": {
		errs.ValidationFailed: func(_ context.Context, _ *scene, r *metered.Request) error {
			r.Query = map[string]string{"timezone": "Berlin"}
			return nil
		},
	},
	"updateFactory": {
		errs.ValidationFailed: member("language", "klingon"),
		errs.UnsupportedModel: member("models", metered.Object{"image": "paintbrush-1"}),
	},
	"diagnoseFactory": {
		errs.ValidationFailed: member("metadata", metered.Object{"client": 4711}),
		errs.InvalidState:     again,
	},
	"applyProposal": {
		errs.InvalidState: again,
		errs.StaleProposal: func(ctx context.Context, s *scene, r *metered.Request) error {
			_, err := s.w.Call(ctx, metered.Request{Operation: "updateFactory", ID: r.ID, Body: s.w.Examples()["updateFactory"].Body})
			return err
		},
	},
	"createContentPlan": {
		errs.InvalidState:        again,
		errs.ValidationFailed:    member("days", 91),
		errs.UnsupportedModel:    ofModel("image", "stable-image-ultra"),
		errs.InsufficientBalance: where(0, nil),
		errs.SpendLimitReached:   where(plenty, new(int64(0))),
	},

	"startTraining": {
		errs.ValidationFailed:    fewSamples,
		errs.InvalidState:        again,
		errs.UnsupportedModel:    member("base_model", "flux-pro-1.1"),
		errs.InsufficientBalance: rehearsed("insufficient_balance"),
		errs.SpendLimitReached:   rehearsed("spend_limit_reached"),
	},

	"createContentItem": costs(map[errs.Code]spoiler{
		errs.InvalidState:     paused,
		errs.ValidationFailed: member("kind", "painting"),
		errs.NotFound:         member("factory_id", unknownFactory),
		errs.UnsupportedModel: member("model", "paintbrush-1"),
		errs.UnsupportedMedia: both(member("kind", "video"), ofPicture(member)),
	}),
	"createContentItems": costs(map[errs.Code]spoiler{
		errs.InvalidState:     paused,
		errs.ValidationFailed: inItem("kind", "painting"),
		errs.NotFound:         inItem("factory_id", unknownFactory),
		errs.UnsupportedModel: inItem("model", "paintbrush-1"),
		errs.UnsupportedMedia: ofPicture(inItem),
	}),
	"updateContentItem": {errs.ValidationFailed: member("hashtags", "trailrunning"), errs.InvalidState: inState(item.Published)},
	"cancelContentItem": {errs.InvalidState: after("cancelContentItem")},
	"deleteContentItem": {errs.InvalidState: inState(item.Publishing)},
	"regenerateContentItem": {
		errs.UnsupportedModel:    member("model", "paintbrush-1"),
		errs.UnsupportedMedia:    ofPicture(member),
		errs.InvalidState:        again,
		errs.QueueFull:           queueFull,
		errs.InsufficientBalance: regenerateWhere(few, nil),
		errs.SpendLimitReached:   regenerateWhere(plenty, new(int64(few))),
	},

	"scheduleContentItem": publishing(member("publish_at", clock.AddDate(1, 0, 0)), afterPublishing),
	"publishContentItem":  publishing(member("social_account_ids", []string{}), again),

	"createMedia": {
		errs.ValidationFailed: member("bytes", media.Limit(media.Image)+1),
		errs.QueueFull:        fullOf("media-pending#", incoming.MaxPending),
	},

	"connectSocialAccount":    {errs.ValidationFailed: without("bot_token"), errs.NotFound: member("social_account_id", unknownAccount)},
	"disconnectSocialAccount": {errs.InvalidState: scheduled},
	"attachSocialAccount":     {errs.InvalidState: disconnected},

	"createWebhook": {
		errs.ValidationFailed: member("url", "ftp://crm.example.com/hooks"),
		errs.ScopeEscalation:  narrow,
		errs.InvalidState:     untilRefused,
	},
	"updateWebhook":       {errs.ValidationFailed: member("event_types", []string{"content.made"}), errs.ScopeEscalation: both(narrow, member("event_types", []string{"*"}))},
	"rotateWebhookSecret": {errs.ScopeEscalation: narrow},
	"testWebhook":         {errs.InvalidState: disabled, errs.ValidationFailed: member("event_type", "content.made")},
	"replayEvents":        {errs.InvalidState: disabled, errs.ValidationFailed: member("since", "yesterday")},
	"redeliver":           {errs.InvalidState: disabled},

	"createVideo": studio(map[errs.Code]spoiler{errs.ValidationFailed: member("aspect_ratio", "3:1")}),
	"createImage": studio(map[errs.Code]spoiler{errs.ValidationFailed: member("aspect_ratio", "3:1")}),
	"createMusic": studio(map[errs.Code]spoiler{errs.ValidationFailed: member("seconds", 100_000)}),
	"createVoice": studio(map[errs.Code]spoiler{errs.ValidationFailed: member("text", "")}),
	"createAvatar": studio(map[errs.Code]spoiler{
		errs.ValidationFailed: member("image_url", "anna.jpg"),
		errs.UnsupportedMedia: both(without("text"), member("audio_url", "http://127.0.0.1:9/anna.mp3")),
	}),
	"estimateGeneration": {
		errs.ValidationFailed: member("kind", "painting"),
		errs.UnsupportedModel: member("model", "paintbrush-1"),
		errs.UnsupportedMedia: func(_ context.Context, _ *scene, r *metered.Request) error {
			r.Body = metered.Object{"kind": "avatar", "input": recorded404}
			return nil
		},
	},
	"createEstimate": {
		errs.ValidationFailed: member("operation", "createPainting"),
		errs.UnsupportedModel: member("body", metered.Object{"prompt": "A trail running shoe on wet rock", "model": "paintbrush-1"}),
		errs.NotFound: func(_ context.Context, _ *scene, r *metered.Request) error {
			r.Body = metered.Object{"operation": "createContentItem", "body": metered.Object{"factory_id": unknownFactory, "kind": "post", "prompt": "Our new shoe"}}
			return nil
		},
		errs.UnsupportedMedia: func(_ context.Context, _ *scene, r *metered.Request) error {
			r.Body = metered.Object{"operation": "createAvatar", "body": recorded404}
			return nil
		},
		errs.InvalidState: func(ctx context.Context, s *scene, r *metered.Request) error {
			item, err := s.make(ctx, r.Key, "createContentItem", s.w.Examples()["createContentItem"].Body)
			r.Body = metered.Object{"operation": "regenerateContentItem", "content_item_id": item, "body": metered.Object{}}
			return err
		},
	},
}

// recorded404 is the body of an avatar whose recording cannot be read.
var recorded404 = metered.Object{"image_url": "http://127.0.0.1:9/anna.jpg", "audio_url": "http://127.0.0.1:9/anna.mp3"}

// unknownFactory is the id of no factory.
var unknownFactory = id.First(id.Factory, clock)

// member sends another value of a member of the body.
func member(name string, value any) spoiler {
	return func(_ context.Context, _ *scene, r *metered.Request) error {
		r.Body = changed(r.Body.(metered.Object), name, value)
		return nil
	}
}

// without leaves a member of the body out.
func without(name string) spoiler {
	return func(_ context.Context, _ *scene, r *metered.Request) error {
		body := changed(r.Body.(metered.Object), name, nil)
		delete(body, name)
		r.Body = body
		return nil
	}
}

// inItem sends another value of a member of the second item of a batch.
func inItem(name string, value any) spoiler {
	return func(_ context.Context, _ *scene, r *metered.Request) error {
		items := r.Body.(metered.Object)["items"].([]metered.Object)
		r.Body = metered.Object{"items": []metered.Object{items[0], changed(items[1], name, value)}}
		return nil
	}
}

// both spoils a call twice.
func both(one, other spoiler) spoiler {
	return func(ctx context.Context, s *scene, r *metered.Request) error {
		if err := one(ctx, s, r); err != nil {
			return err
		}
		return other(ctx, s, r)
	}
}

// narrow calls with a key of the same account that has the scope of the operation only.
func narrow(ctx context.Context, s *scene, r *metered.Request) error {
	made, err := s.w.Call(ctx, metered.Request{Operation: "createApiKey", Live: r.Live, Body: metered.Object{
		"name": "CRM integration", "kind": "test", "scopes": []auth.Scope{s.route.Scope},
	}})
	if err != nil {
		return err
	}
	var key struct{ Secret string }
	err = json.Unmarshal(made.Data, &key)
	r.Key = key.Secret
	return err
}

// untilRefused makes the call until there is as much as there may be.
func untilRefused(ctx context.Context, s *scene, r *metered.Request) error {
	for range 1000 {
		out, err := s.w.Send(ctx, *r)
		if err != nil || out.Status >= http.StatusBadRequest {
			return err
		}
	}
	return fmt.Errorf("%s is never refused", r.Operation)
}

// after does something else with the resource first.
func after(operation string) spoiler {
	return func(ctx context.Context, s *scene, r *metered.Request) error {
		_, err := s.w.Call(ctx, metered.Request{Operation: operation, ID: r.ID})
		return err
	}
}

// again makes the call twice.
func again(ctx context.Context, s *scene, r *metered.Request) error {
	_, err := s.w.Call(ctx, *r)
	return err
}

// paused sends the call to a factory that is paused.
func paused(ctx context.Context, s *scene, r *metered.Request) error {
	factory, err := s.make(ctx, r.Key, "createFactory", s.w.Examples()["createFactory"].Body)
	if err != nil {
		return err
	}
	r.Body = inFactory(r.Body, factory)
	_, err = s.w.Call(ctx, metered.Request{Operation: "updateFactory", Key: r.Key, ID: factory, Body: metered.Object{"state": "paused"}})
	return err
}

// queueFull lets as much work wait as may.
var queueFull = fullOf("waiting#", generate.MaxWaiting)

// fullOf counts as much of something as there may be.
func fullOf(counter string, most int64) spoiler {
	return func(ctx context.Context, s *scene, _ *metered.Request) error {
		me, err := s.w.Call(ctx, metered.Request{Operation: "getMe"})
		if err != nil {
			return err
		}
		account, err := me.ID()
		if err != nil {
			return err
		}
		tx := &store.Tx{}
		tx.Count(store.IDKey(counter+account+"#test"), most, 2*most, nil)
		return s.w.State.Commit(ctx, tx)
	}
}

// costs adds the refusals of an operation that costs to others.
func costs(others map[errs.Code]spoiler) map[errs.Code]spoiler {
	others[errs.QueueFull] = queueFull
	others[errs.InsufficientBalance] = where(0, nil)
	others[errs.SpendLimitReached] = where(plenty, new(int64(0)))
	return others
}

// studio adds the refusals of the operations of the studio to others.
func studio(others map[errs.Code]spoiler) map[errs.Code]spoiler {
	others[errs.UnsupportedModel] = member("model", "paintbrush-1")
	return costs(others)
}

// Credits of an account: enough for a few items, and for all that is tried.
const few, plenty = 1000, 1_000_000

// where calls with a live key of an account with some credits, of which the key may
// spend no more than the limit.
func where(credits int64, limit *int64) spoiler {
	return func(ctx context.Context, s *scene, r *metered.Request) error {
		r.Live = true
		of, err := s.newCaller(ctx, r, account.Settings{}, apikey.Settings{Scopes: auth.AllScopes(), SpendLimit: limit})
		if err != nil {
			return err
		}
		if credits > 0 {
			if _, err := account.NewService(s.w.State, s.w.Now).TopUp(ctx, of, credits); err != nil {
				return err
			}
		}
		factory, err := s.make(ctx, r.Key, "createFactory", s.w.Examples()["createFactory"].Body)
		r.Body = inFactory(r.Body, factory)
		if strings.Contains(s.route.Path, "{factory_id}") {
			r.ID = factory
		}
		return err
	}
}

// ofModel calls with a live key, for a factory with a model that live keys do not have.
func ofModel(kind, model string) spoiler {
	return func(ctx context.Context, s *scene, r *metered.Request) error {
		if err := where(plenty, nil)(ctx, s, r); err != nil {
			return err
		}
		_, err := s.w.Call(ctx, metered.Request{Operation: "updateFactory", Key: r.Key, ID: r.ID, Body: metered.Object{"models": metered.Object{kind: model}}})
		return err
	}
}

// regenerateWhere is where for an item that exists, whose first attempt was canceled.
func regenerateWhere(credits int64, limit *int64) spoiler {
	return func(ctx context.Context, s *scene, r *metered.Request) error {
		first := metered.Request{Operation: "createContentItem", Body: s.w.Examples()["createContentItem"].Body}
		if err := where(credits, limit)(ctx, s, &first); err != nil {
			return err
		}
		r.Key = first.Key
		item, err := s.make(ctx, r.Key, first.Operation, first.Body)
		if err != nil {
			return err
		}
		r.ID = item
		if _, err := s.w.Call(ctx, metered.Request{Operation: "cancelContentItem", Key: r.Key, ID: item}); err != nil {
			return err
		}
		return untilRefused(ctx, s, &first)
	}
}

// make carries out an operation that makes something, and returns its id.
func (s *scene) make(ctx context.Context, key, operation string, body any) (string, error) {
	made, err := s.w.Call(ctx, metered.Request{Operation: operation, Key: key, Body: body})
	if err != nil {
		return "", err
	}
	return made.ID()
}

// inFactory returns a body with the id of another factory wherever it names one.
func inFactory(body any, factory string) any {
	switch body := body.(type) {
	case metered.Object:
		other := maps.Clone(body)
		for name, value := range other {
			other[name] = inFactory(value, factory)
		}
		if _, ok := other["factory_id"]; ok {
			other["factory_id"] = factory
		}
		return other
	case []metered.Object:
		var others []metered.Object
		for _, one := range body {
			others = append(others, inFactory(one, factory).(metered.Object))
		}
		return others
	default:
		return body
	}
}
