package crms

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

type object = map[string]any

// Amo returns a fake of amoCRM.
func Amo(now func() time.Time) *Fake {
	f := newFake("amocrm", now, func(w http.ResponseWriter, _ int) {
		control.JSON(w, http.StatusTooManyRequests, object{"title": "Too Many Requests", "status": 429})
	})
	mux := http.NewServeMux()
	mux.HandleFunc("/oauth", f.authorize(url.Values{"referer": {AmoHost}}))
	mux.HandleFunc("POST /oauth2/access_token", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]string
		if json.NewDecoder(r.Body).Decode(&in) != nil || in["redirect_uri"] == "" {
			control.JSON(w, http.StatusBadRequest, object{"hint": "Check the redirect_uri"})
			return
		}
		granted := f.grant(func(name string) string { return in[name] }, true)
		if granted == nil {
			control.JSON(w, http.StatusBadRequest, object{"hint": "Token has been revoked", "title": "Unauthorized"})
			return
		}
		control.JSON(w, http.StatusOK, granted)
	})
	api := http.NewServeMux()
	api.HandleFunc("GET /api/v4/account", func(w http.ResponseWriter, _ *http.Request) {
		id, _ := strconv.Atoi(f.account(AmoAccount)) // a number
		control.JSON(w, http.StatusOK, object{"id": id, "name": "Acme", "subdomain": "acme", "currency": "RUB"})
	})
	api.HandleFunc("GET /api/v4/catalogs", func(w http.ResponseWriter, _ *http.Request) {
		control.JSON(w, http.StatusOK, object{"_embedded": object{"catalogs": []object{{"id": 5000, "type": "regular"},
			{"id": json.Number(catalog), "type": "products"}}}})
	})
	api.HandleFunc("GET /api/v4/leads/pipelines", func(w http.ResponseWriter, _ *http.Request) {
		var all []object
		for _, p := range Pipelines {
			var statuses []object
			for _, s := range p.Stages {
				statuses = append(statuses, object{"id": json.Number(s.ID), "name": s.Name})
			}
			all = append(all, object{"id": json.Number(p.ID), "name": p.Name, "_embedded": object{"statuses": statuses}})
		}
		control.JSON(w, http.StatusOK, object{"_embedded": object{"pipelines": all}})
	})
	api.HandleFunc("GET /api/v4/catalogs/"+catalog+"/elements", func(w http.ResponseWriter, r *http.Request) {
		found, next := f.someProducts(f.start(r), r.URL.Query()["filter[id][]"])
		var all []object
		for _, p := range found {
			all = append(all, amoProduct(p))
		}
		f.amoList(w, r, "elements", all, next)
	})
	api.HandleFunc("GET /api/v4/catalogs/"+catalog+"/elements/{id}", func(w http.ResponseWriter, r *http.Request) {
		p, ok := f.product(r.PathValue("id"))
		if !ok {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		control.JSON(w, http.StatusOK, amoProduct(p))
	})
	api.HandleFunc("GET /api/v4/leads", func(w http.ResponseWriter, r *http.Request) {
		since, _ := strconv.ParseInt(r.URL.Query().Get("filter[updated_at][from]"), 10, 64) // 0 is all
		found, next := f.someDeals(f.start(r), time.Unix(since, 0))
		var all []object
		for _, d := range found {
			all = append(all, amoLead(d))
		}
		f.amoList(w, r, "leads", all, next)
	})
	api.HandleFunc("GET /api/v4/leads/{id}", func(w http.ResponseWriter, r *http.Request) {
		d, ok := f.deal(r.PathValue("id"))
		if !ok {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		control.JSON(w, http.StatusOK, amoLead(d))
	})
	api.HandleFunc("GET /api/v4/leads/{id}/notes", func(w http.ResponseWriter, r *http.Request) {
		all, next := cut(f.notesOf(r.PathValue("id")), f.start(r), f.page)
		var notes []object
		for _, text := range all {
			notes = append(notes, object{"note_type": "common", "params": object{"text": text}})
		}
		f.amoList(w, r, "notes", notes, next)
	})
	api.HandleFunc("POST /api/v4/leads/{id}/notes", func(w http.ResponseWriter, r *http.Request) {
		var in []struct {
			Params struct {
				Text string `json:"text"`
			} `json:"params"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || len(in) != 1 ||
			!f.addNote(r.PathValue("id"), in[0].Params.Text) {
			control.JSON(w, http.StatusBadRequest, object{"title": "Bad Request"})
			return
		}
		control.JSON(w, http.StatusOK, object{"_embedded": object{"notes": []object{{"id": 1}}}})
	})
	webhook := func(on bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var in struct {
				Destination string `json:"destination"`
			}
			_ = json.NewDecoder(r.Body).Decode(&in) // an empty address is kept
			f.hook(in.Destination, on)
			w.WriteHeader(http.StatusNoContent)
		}
	}
	api.HandleFunc("POST /api/v4/webhooks", webhook(true))
	api.HandleFunc("DELETE /api/v4/webhooks", webhook(false))
	mux.HandleFunc("/api/v4/", f.authorized(api.ServeHTTP, func(w http.ResponseWriter) {
		control.JSON(w, http.StatusUnauthorized, object{"title": "Unauthorized"})
	}))
	f.handler = mux
	f.Hook = func(address string, changes ...Change) *http.Request {
		form := url.Values{"account[subdomain]": {"acme"}, "account[id]": {AmoAccount}}
		for i, h := range changes {
			name := "leads[status]"
			if h.Object == ProductObject {
				name = "catalogs[update]"
			}
			form.Set(fmt.Sprintf("%s[%d][id]", name, i), h.ID)
			form.Set(fmt.Sprintf("%s[%d][last_modified]", name, i), strconv.FormatInt(f.Now().Unix(), 10))
		}
		return post(address, "application/x-www-form-urlencoded", form.Encode())
	}
	return f
}

// start returns the first object of the page of a request.
func (f *Fake) start(r *http.Request) int {
	n, _ := strconv.Atoi(r.URL.Query().Get("page")) // 0 is the first
	return max(0, n-1) * f.page
}

func (f *Fake) amoList(w http.ResponseWriter, r *http.Request, name string, all []object, next int) {
	if len(all) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	links := object{"self": object{"href": r.URL.String()}}
	if next > 0 {
		links["next"] = object{"href": "https://" + AmoHost + r.URL.Path + "?page=next"}
	}
	control.JSON(w, http.StatusOK, object{"_links": links, "_embedded": object{name: all}})
}

func amoProduct(p Product) object {
	fields := []object{}
	for code, value := range map[string]string{"SKU": p.SKU, "PRICE": p.Price, "DESCRIPTION": p.Description} {
		if value != "" {
			fields = append(fields, object{"field_code": code, "values": []object{{"value": value}}})
		}
	}
	return object{"id": json.Number(p.ID), "name": p.Name, "is_deleted": p.Archived, "custom_fields_values": fields}
}

func amoLead(d Deal) object {
	return object{"id": json.Number(d.ID), "name": d.Name, "price": json.Number(d.Amount),
		"status_id": json.Number(d.Stage), "pipeline_id": json.Number(d.Pipeline), "updated_at": d.ChangedAt.Unix()}
}
