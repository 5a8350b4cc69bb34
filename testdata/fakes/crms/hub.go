package crms

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// Hub returns a fake of HubSpot.
func Hub(now func() time.Time) *Fake {
	f := newFake("hubspot", now, func(w http.ResponseWriter, _ int) {
		control.JSON(w, http.StatusTooManyRequests, object{"status": "error", "category": "RATE_LIMITS",
			"policyName": "SECONDLY"})
	})
	mux := http.NewServeMux()
	mux.HandleFunc("/oauth/authorize", f.authorize(nil))
	// The paths of version 1 end on 16 February 2027.
	mux.HandleFunc("POST /oauth/2026-03/token", func(w http.ResponseWriter, r *http.Request) {
		granted := f.grant(r.FormValue, false)
		if granted == nil {
			control.JSON(w, http.StatusBadRequest, object{"error": "invalid_grant",
				"error_description": "refresh token is invalid, expired or revoked"})
			return
		}
		control.JSON(w, http.StatusOK, granted)
	})
	mux.HandleFunc("POST /oauth/2026-03/token/revoke", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("client_secret") != oauth.ClientSecret || r.FormValue("token_type_hint") != "refresh_token" ||
			!f.TakeRefresh(r.FormValue("token"), true) {
			control.JSON(w, http.StatusBadRequest, object{"category": "VALIDATION_ERROR", "message": "Invalid input"})
			return
		}
		f.Revoke()
		w.WriteHeader(http.StatusNoContent)
	})
	api := http.NewServeMux()
	api.HandleFunc("GET /account-info/v3/details", func(w http.ResponseWriter, _ *http.Request) {
		control.JSON(w, http.StatusOK, object{"portalId": json.Number(Portal), "uiDomain": "app.hubspot.com",
			"companyCurrency": "EUR"})
	})
	api.HandleFunc("GET /crm/v3/pipelines/deals", func(w http.ResponseWriter, _ *http.Request) {
		var all []object
		for _, p := range Pipelines {
			var stages []object
			for _, s := range p.Stages {
				stages = append(stages, object{"id": s.ID, "label": s.Name})
			}
			all = append(all, object{"id": p.ID, "label": p.Name, "stages": stages})
		}
		control.JSON(w, http.StatusOK, object{"results": all})
	})
	api.HandleFunc("GET /crm/v3/objects/products", func(w http.ResponseWriter, r *http.Request) {
		start, _ := strconv.Atoi(r.URL.Query().Get("after")) // 0 is the first
		found, next := f.someProducts(start, nil)
		hubList(w, hubProducts(found), next)
	})
	api.HandleFunc("POST /crm/v3/objects/products/batch/read", func(w http.ResponseWriter, r *http.Request) {
		ids := hubIDs(r)
		var found []Product
		for _, id := range ids {
			if p, ok := f.product(id); ok {
				found = append(found, p)
			}
		}
		hubList(w, hubProducts(found), 0)
	})
	api.HandleFunc("GET /crm/v3/objects/products/{id}", func(w http.ResponseWriter, r *http.Request) {
		p, ok := f.product(r.PathValue("id"))
		if !ok {
			control.JSON(w, http.StatusNotFound, object{"status": "error"})
			return
		}
		control.JSON(w, http.StatusOK, hubProducts([]Product{p})[0])
	})
	api.HandleFunc("POST /crm/v3/objects/deals/search", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			After  string `json:"after"`
			Groups []struct {
				Filters []struct {
					Value string `json:"value"`
				} `json:"filters"`
			} `json:"filterGroups"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Groups) != 1 || len(in.Groups[0].Filters) != 1 {
			control.JSON(w, http.StatusBadRequest, object{"status": "error"})
			return
		}
		since, _ := strconv.ParseInt(in.Groups[0].Filters[0].Value, 10, 64)
		start, _ := strconv.Atoi(in.After) // 0 is the first
		found, next := f.someDeals(start, time.UnixMilli(since))
		var all []object
		for _, d := range found {
			all = append(all, hubDeal(d))
		}
		hubList(w, all, next)
	})
	api.HandleFunc("GET /crm/v3/objects/deals/{id}", func(w http.ResponseWriter, r *http.Request) {
		d, ok := f.deal(r.PathValue("id"))
		if !ok {
			control.JSON(w, http.StatusNotFound, object{"status": "error"})
			return
		}
		control.JSON(w, http.StatusOK, hubDeal(d))
	})
	f.hubNotes(api)
	mux.HandleFunc("/", f.authorized(api.ServeHTTP, func(w http.ResponseWriter) {
		control.JSON(w, http.StatusUnauthorized, object{"category": "EXPIRED_AUTHENTICATION"})
	}))
	f.handler = mux
	f.Hook = func(address string, changes ...Change) *http.Request {
		var events []object
		for _, h := range changes {
			kind := "deal.propertyChange"
			if h.Object == ProductObject {
				kind = "product.propertyChange"
			}
			events = append(events, object{"portalId": json.Number(Portal), "subscriptionType": kind,
				"objectId": json.Number(h.ID), "occurredAt": f.Now().UnixMilli()})
		}
		body, _ := json.Marshal(events) // it has texts and numbers
		r := post(address, "application/json", string(body))
		stamp := strconv.FormatInt(f.Now().UnixMilli(), 10)
		r.Header.Set("X-HubSpot-Request-Timestamp", stamp)
		r.Header.Set("X-HubSpot-Signature-v3", HubSignature(address, body, stamp))
		return r
	}
	return f
}

// HubSignature returns version 3 of HubSpot's signature of a webhook: the HMAC of its method, address, body and time.
func HubSignature(address string, body []byte, stamp string) string {
	mac := hmac.New(sha256.New, []byte(oauth.ClientSecret))
	fmt.Fprint(mac, "POST", address, string(body), stamp)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// hubNotes adds the API of notes. The id of a note is its number among all notes.
func (f *Fake) hubNotes(api *http.ServeMux) {
	api.HandleFunc("GET /crm/v4/objects/deals/{id}/associations/notes", func(w http.ResponseWriter, r *http.Request) {
		var all []object
		for i, n := range f.Notes() {
			if n.Deal == r.PathValue("id") {
				all = append(all, object{"toObjectId": i})
			}
		}
		start, _ := strconv.Atoi(r.URL.Query().Get("after")) // 0 is the first
		page, next := cut(all, start, f.page)
		hubList(w, page, next)
	})
	api.HandleFunc("POST /crm/v3/objects/notes/batch/read", func(w http.ResponseWriter, r *http.Request) {
		notes := f.Notes()
		var all []object
		for _, id := range hubIDs(r) {
			if i, err := strconv.Atoi(id); err == nil && i < len(notes) {
				all = append(all, object{"id": id, "properties": object{"hs_note_body": notes[i].Text}})
			}
		}
		hubList(w, all, 0)
	})
	api.HandleFunc("POST /crm/v3/objects/notes", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Properties   map[string]string `json:"properties"`
			Associations []struct {
				To struct {
					ID string `json:"id"`
				} `json:"to"`
			} `json:"associations"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Associations) != 1 || in.Properties["hs_timestamp"] == "" ||
			!f.addNote(in.Associations[0].To.ID, html.UnescapeString(tag.ReplaceAllString(strings.ReplaceAll(
				in.Properties["hs_note_body"], "<br>", "\n"), ""))) {
			control.JSON(w, http.StatusBadRequest, object{"status": "error"})
			return
		}
		control.JSON(w, http.StatusCreated, object{"id": "1"})
	})
}

// tag is a tag of HTML, which a note does not show.
var tag = regexp.MustCompile(`<[^>]*>`)

func hubIDs(r *http.Request) (ids []string) {
	var in struct {
		Inputs []struct {
			ID string `json:"id"`
		} `json:"inputs"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in) // no ids
	for _, i := range in.Inputs {
		ids = append(ids, i.ID)
	}
	return ids
}

func hubList(w http.ResponseWriter, all []object, next int) {
	if all == nil {
		all = []object{}
	}
	answer := object{"results": all}
	if next > 0 {
		answer["paging"] = object{"next": object{"after": fmt.Sprint(next)}}
	}
	control.JSON(w, http.StatusOK, answer)
}

func hubProducts(found []Product) (all []object) {
	for _, p := range found {
		all = append(all, object{"id": p.ID, "archived": p.Archived, "properties": object{"name": p.Name,
			"description": p.Description, "price": p.Price, "hs_sku": p.SKU, "hs_url": p.URL}})
	}
	return all
}

func hubDeal(d Deal) object {
	return object{"id": d.ID, "properties": object{"dealname": d.Name, "description": d.Description,
		"dealstage": d.Stage, "pipeline": d.Pipeline, "amount": d.Amount, "deal_currency_code": d.Currency,
		"hs_lastmodifieddate": d.ChangedAt.Format(time.RFC3339Nano)}}
}
