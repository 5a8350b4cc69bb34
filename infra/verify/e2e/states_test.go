//go:build !deployed

package e2e

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// A caller that mirrors the content needs the time and address of the next request, the actions
// that each state permits, and an event for each end.
func TestStatesAndTheirEvents(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	factory := c.factory(key)
	body := object{"factory_id": factory, "kind": "post", "prompt": "A shoe made of recycled nets"}
	accepted := call(t, key, http.MethodPost, contentPath, body)
	made := into[contentItem](accepted, http.StatusAccepted)
	if after, err := strconv.Atoi(accepted.Header.Get("Retry-After")); err != nil || after < 1 {
		t.Errorf("Retry-After %q", accepted.Header.Get("Retry-After"))
	}
	ended(t, key, made.ID)
	at := accepted.Header.Get("Location")
	if got := into[contentItem](call(t, key, http.MethodGet, at, nil), http.StatusOK); got.ID != made.ID ||
		got.State != "generated" {
		t.Errorf("%s shows %+v", at, got)
	}
	late := call(t, key, http.MethodPost, at+"/cancel", nil)
	if err := late.refused(http.StatusConflict, "invalid_state"); err != nil ||
		!strings.Contains(late.Raw, `"context":{"state":"generated","allowed":["update","regenerate","delete","schedule",`+
			`"publish","approve","request_changes"]}`) {
		t.Error(err, late.Raw)
	}
	into[contentItem](call(t, key, http.MethodDelete, at, nil), http.StatusOK)
	body["sandbox"] = object{"delay_seconds": 60}
	batch := call(t, key, http.MethodPost, contentPath+"/batch", object{"items": []object{body, body}})
	two := into[[]contentItem](batch, http.StatusAccepted)
	if listed := into[[]contentItem](call(t, key, http.MethodGet, batch.Header.Get("Location"), nil),
		http.StatusOK); len(listed) != 2 {
		t.Errorf("%s lists %+v", batch.Header.Get("Location"), listed)
	}
	into[contentItem](call(t, key, http.MethodPost, contentPath+"/"+two[0].ID+"/cancel", nil), http.StatusOK)
	into[contentItem](call(t, key, http.MethodDelete, contentPath+"/"+two[1].ID, nil), http.StatusOK)
	var ends []string
	for _, e := range into[[]struct {
		Type string
		Data struct{ Object contentItem }
	}](call(t, key, http.MethodGet, "/v1/events?type=content.*", nil), http.StatusOK) {
		ends = append(ends, e.Type+" "+e.Data.Object.State)
	}
	if got := strings.Join(ends, ", "); got != "content.deleted canceled, content.canceled canceled, content.deleted generated, content.generated generated" {
		t.Errorf("the events are %s", got)
	}
	into[object](call(t, key, http.MethodPatch, "/v1/factories/"+factory, object{"state": "paused"}), http.StatusOK)
	if err := call(t, key, http.MethodPost, contentPath, body).refused(http.StatusConflict,
		"invalid_state"); err != nil {
		t.Error(err)
	}
}

// The responses and the entries report reserved, released and charged credits.
func TestMoneyIsTold(t *testing.T) {
	c := newCustomer(t)
	c.topUp(1000)
	fault(t, "fal", "status", "rate_limited", "A slow shoe") // Delays the pictures.
	key := c.live.Secret
	factory := c.factory(key)
	type reserved struct {
		ID, State       string
		ReservedCredits int64 `json:"reserved_credits"`
	}
	body := object{"factory_id": factory, "kind": "video", "prompt": "A slow shoe", "metadata": object{"client": "7"}}
	estimate := func(operation string, body object) int64 {
		return into[struct{ Credits int64 }](call(t, key, http.MethodPost, "/v1/balance/estimates",
			object{"operation": operation, "body": body}), http.StatusOK).Credits
	}
	price := estimate("createContentItem", body)
	item := into[reserved](call(t, key, http.MethodPost, contentPath, body), http.StatusAccepted)
	into[contentItem](call(t, key, http.MethodDelete, contentPath+"/"+item.ID, nil), http.StatusOK)
	if price < 1 || item.ReservedCredits != price {
		t.Errorf("estimated %d: %+v", price, item)
	}
	entries := into[[]struct {
		FactoryID string `json:"factory_id"`
		Metadata  map[string]string
	}](call(t, key, http.MethodGet, "/v1/balance/entries?subject="+item.ID, nil), http.StatusOK)
	for _, e := range entries {
		if e.FactoryID != factory || e.Metadata["client"] != "7" {
			t.Errorf("%+v", e)
		}
	}
	if len(entries) < 2 {
		t.Errorf("%d entries", len(entries))
	}
	image := object{"prompt": "A slow shoe"}
	price = estimate("createImage", image)
	made := call(t, key, http.MethodPost, "/v1/studio/images", image)
	generation := into[reserved](made, http.StatusAccepted)
	canceled := into[reserved](call(t, key, http.MethodDelete, made.Header.Get("Location"), nil), http.StatusOK)
	if generation.ReservedCredits != price || canceled.State != "canceled" || canceled.ReservedCredits != 0 {
		t.Errorf("estimated %d: %+v, canceled %+v", price, generation, canceled)
	}
	if listed := into[[]reserved](call(t, key, http.MethodGet, "/v1/studio/generations?state=canceled", nil),
		http.StatusOK); len(listed) != 1 || listed[0].ID != generation.ID {
		t.Errorf("%+v", listed)
	}
	var videos []object
	for range 50 {
		videos = append(videos, body)
	}
	dear := call(t, key, http.MethodPost, contentPath+"/batch", object{"items": videos})
	var context struct {
		Required  int64 `json:"required_credits"`
		Available int64 `json:"available_credits"`
	}
	var failed struct {
		Error struct{ Context json.RawMessage }
	}
	if err := dear.refused(http.StatusPaymentRequired, "insufficient_balance"); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(dear.Raw), &failed); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(failed.Error.Context, &context); err != nil || context.Required <= context.Available ||
		context.Available != c.balance() {
		t.Errorf("%v: %s", err, dear.Raw)
	}
}
