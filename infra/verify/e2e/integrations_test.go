package e2e

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/testdata/fakes/crms"
)

// integration is an integration with a CRM as callers see it.
type integration struct {
	ID, State, Name  string
	Version          int
	AuthorizationURL string                            `json:"authorization_url"`
	HookURL          string                            `json:"hook_url"`
	LastSync         *struct{ Read, Made, Failed int } `json:"last_sync"`
	LastFailure      *struct{ Code, Message string }   `json:"last_failure"`
	Counts           struct {
		Products int `json:"product_count"`
		Items    int `json:"item_count"`
		Notes    int `json:"note_count"`
	}
	Pipelines []struct {
		ID     string
		Stages []struct{ ID, Name string }
	}
}

func (c *customer) integration(secret, id string) integration {
	c.t.Helper()
	return into[integration](call(c.t, secret, http.MethodGet, "/v1/integrations/"+id, nil), http.StatusOK)
}

// grant opens the link of an integration, allows the access at the fake, and returns to the callback.
func grant(t *testing.T, link, customer string) {
	t.Helper()
	shown, text := browse(t, http.MethodGet, link)
	_, rest, _ := strings.Cut(text, `<a class="go" href="`)
	page, _, _ := strings.Cut(rest, `"`)
	if page = html.UnescapeString(page); shown.StatusCode != http.StatusOK || !strings.Contains(text, customer) ||
		!strings.HasPrefix(page, running.Platforms) {
		t.Fatalf("the link answers %s %s", shown.Status, text)
	}
	resp, body := browse(t, http.MethodPost, page)
	back := resp.Header.Get("Location")
	at, err := url.Parse(back)
	if err != nil || !strings.HasPrefix(back, running.BaseURL+"/integrations/callback?") {
		t.Fatalf("the CRM answers %s to %s: %s", resp.Status, back, body)
	}
	noteSecret(at.Query().Get("code"))
	if resp, body := browse(t, http.MethodGet, back); resp.StatusCode != http.StatusForbidden ||
		!strings.Contains(body, "See first who asks") {
		t.Errorf("in another browser the callback answers %s %s", resp.Status, body)
	}
	if resp, body := browse(t, http.MethodGet, back, shown.Cookies()...); resp.StatusCode != http.StatusOK ||
		!strings.Contains(body, "is connected") {
		t.Fatalf("the callback answers %s %s", resp.Status, body)
	}
	if resp, _ := browse(t, http.MethodGet, back, shown.Cookies()...); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("the second time the callback answers %s", resp.Status)
	}
}

// notesAbout returns the notes of a CRM that contain a text.
func notesAbout(t *testing.T, crm, text string) (found []crms.Note) {
	t.Helper()
	_, body := browse(t, http.MethodGet, running.Platforms+"/_notes")
	var all map[string][]crms.Note
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatal(err)
	}
	for _, n := range all[crm] {
		if strings.Contains(n.Text, text) {
			found = append(found, n)
		}
	}
	return found
}

// Each CRM is connected, its product becomes one of the shop, and a deal that enters a mapped stage makes one item and
// gets one note, though the CRM sends each webhook twice.
func TestIntegrationsWithCRMs(t *testing.T) {
	t.Parallel()
	noteSecret(crms.Secret, "access-token-0", "refresh-token-0")
	c := newCustomer(t)
	c.topUp(100_000)
	secret := c.live.Secret
	for name, body := range map[string]object{
		"amocrm":   {"kind": "amocrm"},
		"bitrix24": {"kind": "bitrix24", "webhook_url": running.Platforms + "/bitrix24/rest/1/" + crms.Secret + "/"},
		"hubspot":  {"kind": "hubspot"},
	} {
		shop := into[struct{ ID string }](call(t, secret, http.MethodPost, "/v1/factories", object{
			"type": "seller", "name": "Shop " + name, "settings": object{"currency": "EUR"},
		}), http.StatusCreated).ID
		body["factory_id"] = shop
		made := into[integration](call(t, secret, http.MethodPost, "/v1/integrations", body), http.StatusCreated)
		if made.AuthorizationURL != "" {
			grant(t, made.AuthorizationURL, c.id)
		}
		hook := made.HookURL
		if name == "hubspot" {
			hook = running.BaseURL + "/integrations/hooks/hubspot"
		} else {
			noteSecret(hook[strings.LastIndex(hook, ".")+1:])
		}
		now := c.integration(secret, made.ID)
		if now.State != "connected" || len(now.Pipelines) != 1 || now.Pipelines[0].Stages[2].Name != "Won" {
			t.Fatalf("%s: %+v", name, now)
		}
		call(t, secret, http.MethodPatch, "/v1/integrations/"+made.ID, object{"mapping": object{
			"products": object{"import": true},
			"stages": []object{{"pipeline": "7", "stage": "142", "kind": "post",
				"template": "A case study about the deal"}},
		}})
		poll.Until(t, name+": the product is imported", func() bool {
			return len(into[[]object](call(t, secret, http.MethodGet, "/v1/products?factory_id="+shop, nil),
				http.StatusOK)) == 1
		})
		poll.Until(t, name+": the synchronization ends", func() bool {
			return c.integration(secret, made.ID).LastSync != nil
		})
		if resp, text := browse(t, http.MethodPost, running.Platforms+"/_deal?"+url.Values{"crm": {name}, "id": {"1"},
			"stage": {"142"}, "hook": {hook}}.Encode()); resp.StatusCode != http.StatusNoContent {
			t.Fatalf("%s: %s %s", name, resp.Status, text)
		}
		poll.Until(t, name+": the note is written", func() bool {
			return c.integration(secret, made.ID).Counts.Notes > 0
		})
		items := into[[]struct{ ID, State, Prompt string }](call(t, secret, http.MethodGet,
			"/v1/content-items?factory_id="+shop, nil), http.StatusOK)
		if len(items) != 1 || items[0].State != "generated" || !strings.Contains(items[0].Prompt, "A case study") ||
			!strings.Contains(items[0].Prompt, `"name":"Shoes for the team"`) {
			t.Fatalf("%s: the items are %+v", name, items)
		}
		if notes := notesAbout(t, name, items[0].ID); len(notes) != 1 || notes[0].Deal != "1" ||
			!strings.Contains(notes[0].Text, running.BaseURL+"/v1/content-items/"+items[0].ID) {
			t.Errorf("%s: the notes are %+v", name, notes)
		}
		if now = c.integration(secret, made.ID); now.Counts.Products != 1 || now.Counts.Items != 1 ||
			now.Counts.Notes != 1 || now.LastFailure != nil {
			t.Errorf("%s: %+v", name, now)
		}
		call(t, secret, http.MethodPost, "/v1/integrations/"+made.ID+"/sync", nil)
		gone := into[integration](call(t, secret, http.MethodDelete, "/v1/integrations/"+made.ID, nil), http.StatusOK)
		if gone.State != "disconnected" {
			t.Errorf("%s: %+v", name, gone)
		}
	}
}
