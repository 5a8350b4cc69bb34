package social

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// The parameters of CallbackPath by which platforms tell of removed rights and ask for deletions, with the name of the
// platform, and the one of the page that tells of a deletion, with its code. Those of a customer's own application also
// have its id.
const (
	removedParam     = "removed"
	deletionParam    = "deletion"
	deletedParam     = "deleted"
	applicationParam = "application"
)

const (
	// maxRemoval is the size of the largest webhook about removed rights.
	maxRemoval = 64 << 10
	// maxPerson bounds the platform's id of a person.
	maxPerson = 200
	// operatorsApp stands for the operator's application in the names of grantors.
	operatorsApp = "operator"
)

// grantorOf names the person who has granted the access to an account, and the application of a customer or nil for the
// operator's. Accounts are found by it when the platform tells that the person has removed the rights. It is empty if
// the platform does not tell.
func (s *Service) grantorOf(o tenant.Owner, name string, application *string, person string) string {
	adapter, _ := s.platforms.Of(o.Mode, name)
	if _, tells := adapter.(platform.Remover); !tells || person == "" || len(person) > maxPerson {
		return ""
	}
	own := operatorsApp
	if application != nil {
		own = *application
	}
	return "grantor#" + own + "#" + name + "#" + person
}

// removals returns a handler of what platforms tell of removed rights, which needs no key, and of all else.
func (s *Service) removals(others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		q := req.URL.Query()
		switch {
		case req.URL.Path == CallbackPath && q.Has(deletedParam):
			s.showDeletion(w, req, q.Get(deletedParam))
		case req.URL.Path == CallbackPath && (q.Has(removedParam) || q.Has(deletionParam)):
			s.removal(w, req)
		default:
			others.ServeHTTP(w, req)
		}
	})
}

// deletion is the answer to a platform that asks to delete the data of a person.
type deletion struct {
	URL  string `json:"url"`
	Code string `json:"confirmation_code"`
}

// removal answers a webhook about removed rights, or about data to delete.
func (s *Service) removal(w http.ResponseWriter, req *http.Request) {
	status, answer := s.removing(req)
	web.SetHeaders(w.Header())
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if answer != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	if answer == nil {
		return
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		slog.Info("the sender of a webhook has gone", "error", err)
	}
}

func (s *Service) removing(req *http.Request) (status int, answer *deletion) {
	ctx, q := req.Context(), req.URL.Query()
	name, erase := q.Get(removedParam), q.Has(deletionParam)
	if erase {
		name = q.Get(deletionParam)
	}
	adapter, _ := s.platforms.Of(tenant.Live, name)
	from, ok := adapter.(platform.Remover)
	if !ok {
		return http.StatusNotFound, nil
	}
	verify := from.Removed
	if erase {
		to, ok := adapter.(platform.Forgetter)
		if !ok {
			return http.StatusNotFound, nil
		}
		verify = to.Forgotten
	}
	if req.Method != http.MethodPost {
		return http.StatusMethodNotAllowed, nil
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxRemoval+1))
	if err != nil || len(body) > maxRemoval {
		return http.StatusRequestEntityTooLarge, nil
	}
	by, err := s.signer(ctx, name, q.Get(applicationParam))
	if err == nil && by.app.Secret == "" {
		return http.StatusNotFound, nil
	}
	var told platform.Removal
	if err == nil {
		told, err = verify(by.app, platform.Hook{Method: req.Method, Query: q, Header: req.Header, Body: body}, s.now())
	}
	if errors.Is(err, platform.ErrForged) {
		return http.StatusForbidden, nil
	}
	if err == nil {
		err = s.remove(ctx, by, told, erase)
	}
	if err == nil && erase {
		answer, err = s.confirm(ctx, told, body)
	}
	if err != nil {
		slog.Error("webhook about removed rights not taken", "platform", name, "error", err)
		return http.StatusServiceUnavailable, nil
	}
	return http.StatusOK, answer
}

// signer is an application by whose secret a platform signs, with what the application stands for here.
type signer struct {
	app platform.App
	// grantings are its registrations here: an application of Meta serves several platforms, and has one address for
	// all of them.
	grantings []granting
}

// granting is an application and the platform with which it was registered.
type granting struct {
	platform    string
	application *string
}

// signer returns the application of the operator with a platform, or one of a customer. The application is the zero
// value if there is none.
func (s *Service) signer(ctx context.Context, name, applicationID string) (by signer, err error) {
	if applicationID != "" {
		return s.ownSigner(ctx, name, applicationID)
	}
	if by.app, err = s.platforms.apps(ctx, name); err != nil {
		return by, err
	}
	for _, other := range s.platforms.Names() {
		app, err := s.platforms.apps(ctx, other)
		if err != nil {
			return by, err
		}
		if app.ID == by.app.ID && platform.SameSecret(app.Secret.Reveal(), by.app.Secret) {
			by.grantings = append(by.grantings, granting{platform: other})
		}
	}
	return by, nil
}

// ownSigner returns an application of a customer. The same one may be registered for several platforms.
func (s *Service) ownSigner(ctx context.Context, name, applicationID string) (by signer, err error) {
	if !id.Valid(id.Application, applicationID) {
		return by, nil
	}
	it, err := s.db.Lookup(ctx, store.IDKey(applicationID))
	if err != nil || it.Kind != ApplicationKind {
		return by, err
	}
	r, err := applicationOf(&it)
	if err != nil || r.Platform != name || r.Deleted || it.Mode != tenant.Live {
		return by, err
	}
	with, err := s.vault.with(ctx, it.Owner, &applicationID)
	if err != nil {
		return by, err
	}
	by.app, _ = platform.AppOf(with)
	by.grantings = []granting{{name, &applicationID}}
	for _, other := range s.platforms.Names() {
		shelves, err := s.shelves(ctx, other, it.Owner)
		if err != nil {
			return by, err
		}
		items, err := s.db.GetAll(ctx, store.IDKeys(shelves[0].IDs)...)
		if err != nil {
			return by, err
		}
		for i := range items {
			if items[i].Kind != ApplicationKind || items[i].PK == applicationID {
				continue
			}
			also, err := applicationOf(&items[i])
			if err != nil {
				return by, err
			}
			if also.ClientID == r.ClientID && !also.Deleted {
				by.grantings = append(by.grantings, granting{other, &also.ID})
			}
		}
	}
	return by, nil
}

// remove ends the accounts to which a person has granted the access of an application, and deletes what is stored of
// them if the platform asks for it.
func (s *Service) remove(ctx context.Context, by signer, told platform.Removal, erase bool) error {
	for _, g := range by.grantings {
		grantor := s.grantorOf(tenant.Owner{Mode: tenant.Live}, g.platform, g.application, told.Person)
		if grantor == "" {
			continue
		}
		err := s.db.Each(ctx, store.Query{Index: store.ByParent, Partition: grantor, Limit: 100},
			func(it store.Item) error { return s.end(ctx, it.Key, grantor, told.At, erase) })
		if err != nil {
			return err
		}
	}
	return nil
}

// errRemoved is the reason of accounts whose rights were removed.
var errRemoved = platform.NeedsReconnect(platform.CodeNeedsReconnect, "The person who has connected the account has "+
	"removed the access at the platform. Connect the account again.")

// end ends one account. A repeat changes nothing, and one that was connected since, for the first time or again, has
// rights.
func (s *Service) end(ctx context.Context, key store.Key, grantor string, at time.Time, erase bool) error {
	return s.db.Change(ctx, func(tx *store.Tx) error {
		it, err := s.db.Lookup(ctx, key)
		if err != nil || it.Kind != Kind {
			return err
		}
		r, err := Decode(&it)
		since := r.CreatedAt.Time
		if r.Connection > 1 {
			since = r.RefreshedAt
		}
		if err != nil || r.Grantor != grantor || at.Add(time.Second).Before(since) {
			return err
		}
		if erase {
			return s.erase(ctx, tx, it, r)
		}
		return Lose(tx, s.now(), it, r.Tokens, errRemoved)
	})
}

// erase adds to the transaction that an account ends, and that what the platform has told of it is forgotten: its
// token, name, picture and id, its figures by day, and its earlier posts. The account stays for what publishes to it,
// and another one of the platform can be connected in its place.
func (s *Service) erase(ctx context.Context, tx *store.Tx, it store.Item, r Record) error {
	now := s.now()
	identityKey := IdentityKey(it.Owner, r.Platform, r.PlatformID)
	keys := slices.Concat([]store.Key{identityKey}, DaysKeys(r.ID, now.Add(-keepDays), now),
		pastKeys(r.ID, now.Add(-keepPast-PastSince), now))
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	for _, of := range items {
		var named identity
		switch {
		case of.Owner != it.Owner:
			continue
		case of.Key == identityKey:
			if err := of.Decode(&named); err != nil {
				return err
			}
			if named.Account != r.ID {
				continue
			}
			of.ExpireAt, err = now, of.Encode(identity{})
		case of.Kind == DaysKind:
			err = of.Encode(months{})
		default:
			err = of.Encode(past{})
		}
		if err != nil {
			return err
		}
		tx.Replace(of)
	}
	var told event.Type
	if r.Usable() {
		told = event.SocialAccountNeedsReconnect
		r.State, r.Failure = NeedsReconnect, lossOf(errRemoved)
	}
	r.PlatformID, r.Handle, r.DisplayName, r.AvatarURL, r.Grantor = "", "", "", nil, ""
	r.SealedAccount, r.TokenExpiresAt, r.ReconnectDueAt = nil, nil, nil
	return r.Replace(tx, now, it, told)
}

// The parts of a confirmation code: the time of the request, what tells it from others, and the signature of both.
const (
	codeTime  = 5
	codeNonce = 5
	codeBytes = 20
)

var codeText = base32.StdEncoding.WithPadding(base32.NoPadding)

// confirm returns the answer to a request for a deletion, which was carried out. A repeat has the same answer.
func (s *Service) confirm(ctx context.Context, told platform.Removal, body []byte) (*deletion, error) {
	keys, err := s.secret.Keys(ctx, nil, "deletion-code")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	code := binary.BigEndian.AppendUint64(nil, uint64(told.At.Unix()))[8-codeTime:]
	code = signCode(keys[0], append(code, sum[:codeNonce]...))
	text := strings.ToLower(codeText.EncodeToString(code))
	at := httpapi.GatewayOf(ctx)
	return &deletion{cmp.Or(at.PublicURL, at.BaseURL) + CallbackPath + "?" + deletedParam + "=" + text, text}, nil
}

// signCode returns the code whose first parts are given.
func signCode(key, parts []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(parts)
	return append(slices.Clone(parts), mac.Sum(nil)[:codeBytes-len(parts)]...)
}

// deletionPage is the page about a deletion.
var deletionPage = web.NewDesign("<h1>{{.Title}}</h1>\n<p>{{.Text}}</p>", func() string {
	return web.Look("../../settings/assets/")
})

// showDeletion tells a person by the code of a confirmation that their data are deleted. The code is signed: a request
// is answered with one only after it was carried out.
func (s *Service) showDeletion(w http.ResponseWriter, req *http.Request, text string) {
	page := struct{ Title, Text string }{"This code is not known", "Check the address that you were given."}
	status := http.StatusNotFound
	keys, err := s.secret.Keys(req.Context(), nil, "deletion-code")
	code, bad := codeText.DecodeString(strings.ToUpper(text))
	switch {
	case err != nil:
		slog.Error("page of a deletion failed", "error", err)
		page.Title, page.Text = "Something went wrong", "Try again in a few minutes."
		status = http.StatusServiceUnavailable
	case req.Method != http.MethodGet && req.Method != http.MethodHead:
		page.Title, page.Text, status = "Open the link in a browser", "", http.StatusMethodNotAllowed
		w.Header().Set("Allow", http.MethodGet+", "+http.MethodHead)
	case bad == nil && len(code) == codeBytes && slices.ContainsFunc(keys, func(key []byte) bool {
		return hmac.Equal(code, signCode(key, code[:codeTime+codeNonce]))
	}):
		at := time.Unix(int64(binary.BigEndian.Uint64(append(make([]byte, 8-codeTime), code[:codeTime]...))), 0)
		page.Title, status = "Your data are deleted", http.StatusOK
		page.Text = "Your request of " + at.UTC().Format("2 January 2006, 15:04") + " UTC was carried out. The " +
			"access to your accounts has ended, and what was stored of them is deleted: the access tokens, names, " +
			"pictures and ids, their figures, and the copies of their earlier posts. Confirmation code: " + text
	}
	deletionPage.Write(w, req.Method, status, deletionPage.Policy("font-src 'self'; img-src data:; "), page)
}
