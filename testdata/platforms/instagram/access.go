package instagram

import (
	"fmt"
	"net/http"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
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

func (f *Fake) accounts(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("fields") != "instagram_business_account{id,username,name,profile_picture_url}" {
		bad(w, 0)
		return
	}
	control.JSON(w, http.StatusOK, map[string]any{"data": []any{
		map[string]any{"id": "1"}, // a page without an account
		map[string]any{"id": "2", "instagram_business_account": map[string]any{"id": User, "username": "acme",
			"name": "Acme", "profile_picture_url": "https://scontent.example.test/a.jpg"}},
	}})
}

// businesses lists the portfolios of the owner, with their pages. One of these pages is also in
// the list of pages.
func (f *Fake) businesses(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	portfolio, none := f.Portfolio, f.NoPortfolios
	f.mu.Unlock()
	if none {
		refuse(w, http.StatusForbidden, 200, 0, false)
		return
	}
	if r.URL.Query().Get("fields") != "owned_pages.limit(100){instagram_business_account{id,username,name,profile_picture_url}}" {
		bad(w, 0)
		return
	}
	pages := []any{map[string]any{"id": "2", "instagram_business_account": map[string]any{"id": User,
		"username": "acme", "name": "Acme"}}}
	if portfolio {
		pages = append(pages, map[string]any{"id": "3", "instagram_business_account": map[string]any{"id": Second,
			"username": "acme_shop"}})
	}
	control.JSON(w, http.StatusOK,
		map[string]any{"data": []any{map[string]any{"id": "9"},
			map[string]any{"id": "10", "owned_pages": map[string]any{"data": pages}}}})
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
