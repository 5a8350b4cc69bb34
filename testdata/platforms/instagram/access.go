package instagram

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/meta"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// End sets the end of the latest token, for use with Fixed.
func (f *Fake) End(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until = at
}

func (f *Fake) token(w http.ResponseWriter, r *http.Request) {
	var err error
	good := time.Hour
	switch form := r.FormValue("grant_type"); form {
	case "authorization_code":
		if err = f.OAuth.Exchange(r.PostForm, true); err == nil {
			f.mu.Lock()
			f.access, f.until = f.Now().Add(90*24*time.Hour), time.Time{}
			f.mu.Unlock()
		}
	case "fb_exchange_token":
		good = 60 * 24 * time.Hour
		if err = f.OAuth.Client(r.PostForm, true); err == nil && !f.Good(r.PostForm.Get("fb_exchange_token")) {
			refuse(w, http.StatusBadRequest, 190, 463, false)
			return
		}
	default:
		err = fmt.Errorf("the grant type %q", form)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, 100, 36007, false)
		return
	}
	f.mu.Lock()
	if !f.access.IsZero() {
		good = min(good, f.access.Sub(f.Now()))
	}
	if left := f.until.Sub(f.Now()); f.Fixed && !f.until.IsZero() {
		good = min(good, left)
	}
	if good > time.Hour {
		f.until = f.Now().Add(good)
	}
	f.mu.Unlock()
	access, _ := f.Grant(good)
	control.JSON(w, http.StatusOK, map[string]any{"access_token": access, "token_type": "bearer",
		"expires_in": int(good.Seconds())})
}

// fieldsOfPages are the fields that a list of pages is asked for; tasks is one of the list of the login alone.
const fieldsOfPages = "instagram_business_account{id,username,name,profile_picture_url}"

// pageOf returns a page with an account.
func pageOf(id, user, username string) any {
	return map[string]any{"id": id, "instagram_business_account": map[string]any{"id": user, "username": username,
		"name": "Acme", "profile_picture_url": "https://scontent.example.test/a.jpg"}}
}

// more returns further pages, of which the last has the same account in every list.
func more(of string, n int) (pages []any) {
	for i := range n {
		user := fmt.Sprintf("17841%s%05d", of, i)
		if i == n-1 {
			user = "1784100000000099"
		}
		pages = append(pages, pageOf(of+fmt.Sprint(i), user, fmt.Sprintf("acme_%s_%d", of, i)))
	}
	return pages
}

func (f *Fake) accounts(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("fields") != fieldsOfPages+",tasks" {
		bad(w, 0)
		return
	}
	// A page without an account comes first.
	meta.List(w, r, append([]any{map[string]any{"id": "1"}, pageOf("2", User, "acme")}, more("3", f.Pages)...))
}

// The portfolios of the owner. One of the pages of the second is also in the list of pages.
const firstPortfolio, secondPortfolio = "9", "10"

// pagesOf returns the pages of a portfolio.
func (f *Fake) pagesOf(portfolio, edge string) []any {
	switch portfolio + " " + edge {
	case firstPortfolio + " client_pages":
		return more("5", f.Client)
	case secondPortfolio + " owned_pages":
		pages := []any{pageOf("2", User, "acme")}
		if f.Portfolio {
			pages = append(pages, map[string]any{"id": "3", "instagram_business_account": map[string]any{"id": Second,
				"username": "acme_shop"}})
		}
		return append(pages, more("4", f.Owned)...)
	}
	return nil
}

// businesses lists the portfolios of the owner, with the first of their pages.
func (f *Fake) businesses(w http.ResponseWriter, r *http.Request) {
	if f.NoPortfolios {
		refuse(w, http.StatusForbidden, 200, 0, false)
		return
	}
	const owned, client = ",owned_pages.limit(100){" + fieldsOfPages + "}", ",client_pages.limit(100){" + fieldsOfPages + "}"
	fields := r.URL.Query().Get("fields")
	if fields != "id"+owned+client && fields != "id"+owned {
		bad(w, 0)
		return
	}
	var all []any
	for _, id := range []string{firstPortfolio, secondPortfolio} {
		of := map[string]any{"id": id}
		for _, edge := range []string{"owned_pages", "client_pages"} {
			if pages := f.pagesOf(id, edge); len(pages) > 0 && strings.Contains(fields, edge) {
				of[edge] = meta.Page(pages, 0, 100)
			}
		}
		all = append(all, of)
	}
	meta.List(w, r, all)
}

// ofPortfolio lists the pages of a portfolio.
func (f *Fake) ofPortfolio(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("fields") != fieldsOfPages {
		bad(w, 0)
		return
	}
	_, edge, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v26.0/"), "/")
	meta.List(w, r, f.pagesOf(r.PathValue("portfolio"), edge))
}

// debug returns the permissions of a token. The application calls it with its own credentials.
func (f *Fake) debug(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+oauth.ClientID+"|"+oauth.ClientSecret ||
		!f.Good(r.URL.Query().Get("input_token")) {
		refuse(w, http.StatusBadRequest, 190, 0, false)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	data := map[string]any{"is_valid": true, "type": "USER"}
	if !f.access.IsZero() {
		data["data_access_expires_at"] = f.access.Unix()
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": data})
}
