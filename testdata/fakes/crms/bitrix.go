package crms

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

// bitrixCall has the parameters of a method.
type bitrixCall struct {
	Auth    string         `json:"auth"`
	ID      string         `json:"id"`
	Start   int            `json:"start"`
	Event   string         `json:"event"`
	Handler string         `json:"handler"`
	Filter  map[string]any `json:"filter"`
	Fields  struct {
		Deal    string `json:"ENTITY_ID"`
		Comment string `json:"COMMENT"`
	} `json:"fields"`
}

func (c bitrixCall) filter(name string) string {
	text, _ := c.Filter[name].(string)
	return text
}

func (c bitrixCall) ids() (all []string) {
	values, _ := c.Filter["ID"].([]any)
	for _, v := range values {
		all = append(all, fmt.Sprint(v))
	}
	return all
}

// Bitrix returns a fake of Bitrix24. The address of its incoming webhook ends with /rest/1/Secret/.
func Bitrix(now func() time.Time) *Fake {
	f := newFake("bitrix24", now, func(w http.ResponseWriter, _ int) {
		control.JSON(w, http.StatusServiceUnavailable, object{"error": "QUERY_LIMIT_EXCEEDED",
			"error_description": "Too many requests"})
	})
	mux := http.NewServeMux()
	mux.HandleFunc("/oauth/authorize/", f.authorize(url.Values{"member_id": {Member}, "domain": {"acme.bitrix24.ru"}}))
	mux.HandleFunc("POST /oauth/token/", func(w http.ResponseWriter, r *http.Request) {
		granted := f.grant(r.FormValue, true)
		if granted == nil {
			control.JSON(w, http.StatusBadRequest, object{"error": "invalid_grant"})
			return
		}
		granted["member_id"], granted["client_endpoint"] = Member, "https://acme.bitrix24.ru/rest/"
		control.JSON(w, http.StatusOK, granted)
	})
	serve := func(w http.ResponseWriter, r *http.Request, method string, good func(bitrixCall) bool) {
		var in bitrixCall
		if json.NewDecoder(r.Body).Decode(&in) != nil {
			control.JSON(w, http.StatusBadRequest, object{"error": "INVALID_REQUEST"})
			return
		}
		if !good(in) {
			control.JSON(w, http.StatusUnauthorized, object{"error": "expired_token"})
			return
		}
		f.bitrix(w, strings.TrimSuffix(method, ".json"), in)
	}
	mux.HandleFunc("POST /rest/{method}", func(w http.ResponseWriter, r *http.Request) {
		serve(w, r, r.PathValue("method"), func(c bitrixCall) bool { return f.Good(c.Auth) })
	})
	mux.HandleFunc("POST /rest/1/"+Secret+"/{method}", func(w http.ResponseWriter, r *http.Request) {
		serve(w, r, r.PathValue("method"), func(bitrixCall) bool { return true })
	})
	mux.HandleFunc("POST /rest/1/{secret}/{method}", func(w http.ResponseWriter, _ *http.Request) {
		control.JSON(w, http.StatusUnauthorized, object{"error": "INVALID_CREDENTIALS"})
	})
	f.handler = mux
	f.Hook = func(address string, changes ...Change) *http.Request {
		event := "ONCRMDEALUPDATE"
		if changes[0].Object == ProductObject {
			event = "ONCRMPRODUCTUPDATE"
		}
		return post(address, "application/x-www-form-urlencoded", url.Values{"event": {event},
			"data[FIELDS][ID]": {changes[0].ID}, "ts": {strconv.FormatInt(f.Now().Unix(), 10)},
			"auth[member_id]": {Member}, "auth[application_token]": {Proof}}.Encode())
	}
	return f
}

func (f *Fake) bitrix(w http.ResponseWriter, method string, in bitrixCall) {
	missing := func() {
		control.JSON(w, http.StatusBadRequest, object{"error": "", "error_description": "Not found"})
	}
	list := func(all []object, next int) {
		answer := object{"result": all}
		if all == nil {
			answer["result"] = []object{}
		}
		if next > 0 {
			answer["next"] = next
		}
		control.JSON(w, http.StatusOK, answer)
	}
	switch method {
	case "crm.currency.list":
		list([]object{{"CURRENCY": "RUB", "BASE": "Y"}, {"CURRENCY": "EUR", "BASE": "N"}}, 0)
	case "crm.category.list":
		var all []object
		for _, p := range Pipelines {
			all = append(all, object{"id": json.Number(p.ID), "name": p.Name})
		}
		control.JSON(w, http.StatusOK, object{"result": object{"categories": all}})
	case "crm.status.list":
		var all []object
		for _, p := range Pipelines {
			if in.filter("ENTITY_ID") == "DEAL_STAGE_"+p.ID {
				for _, s := range p.Stages {
					all = append(all, object{"STATUS_ID": s.ID, "NAME": s.Name})
				}
			}
		}
		list(all, 0)
	case "crm.product.list":
		found, next := f.someProducts(in.Start, in.ids())
		var all []object
		for _, p := range found {
			all = append(all, bitrixProduct(p))
		}
		list(all, next)
	case "crm.product.get":
		p, ok := f.product(in.ID)
		if !ok {
			missing()
			return
		}
		control.JSON(w, http.StatusOK, object{"result": bitrixProduct(p)})
	case "crm.deal.list":
		since, _ := time.Parse(time.RFC3339, in.filter(">=DATE_MODIFY")) // zero is all
		found, next := f.someDeals(in.Start, since)
		var all []object
		for _, d := range found {
			all = append(all, bitrixDeal(d))
		}
		list(all, next)
	case "crm.deal.get":
		d, ok := f.deal(in.ID)
		if !ok {
			missing()
			return
		}
		control.JSON(w, http.StatusOK, object{"result": bitrixDeal(d)})
	case "crm.timeline.comment.list":
		texts, next := cut(f.notesOf(in.filter("ENTITY_ID")), in.Start, f.page)
		var all []object
		for _, text := range texts {
			all = append(all, object{"ID": "1", "COMMENT": text})
		}
		list(all, next)
	case "crm.timeline.comment.add":
		if !f.addNote(in.Fields.Deal, code.ReplaceAllString(in.Fields.Comment, "")) {
			missing()
			return
		}
		control.JSON(w, http.StatusOK, object{"result": 1})
	case "event.get":
		var all []object
		for _, address := range f.Hooks() {
			event, handler, _ := strings.Cut(address, " ")
			all = append(all, object{"event": event, "handler": handler})
		}
		list(all, 0)
	case "event.bind", "event.unbind":
		f.hook(in.Event+" "+in.Handler, method == "event.bind")
		control.JSON(w, http.StatusOK, object{"result": true})
	default:
		control.JSON(w, http.StatusNotFound, object{"error": "ERROR_METHOD_NOT_FOUND"})
	}
}

func bitrixProduct(p Product) object {
	active := "Y"
	if p.Archived {
		active = "N"
	}
	return object{"ID": p.ID, "CODE": p.SKU, "NAME": p.Name, "DESCRIPTION": p.Description, "PRICE": p.Price,
		"CURRENCY_ID": p.Currency, "ACTIVE": active}
}

func bitrixDeal(d Deal) object {
	return object{"ID": d.ID, "TITLE": d.Name, "COMMENTS": d.Description, "STAGE_ID": d.Stage,
		"CATEGORY_ID": d.Pipeline, "OPPORTUNITY": d.Amount, "CURRENCY_ID": d.Currency,
		"DATE_MODIFY": d.ChangedAt.Format(time.RFC3339)}
}

// code is a tag of BBCode, which a comment does not show.
var code = regexp.MustCompile(`\[[^\]]*\]`)
