package console

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
)

// key is an API key as the API answers it.
type key struct {
	ID         string       `json:"id"`
	Version    int64        `json:"version"`
	Name       string       `json:"name"`
	Kind       tenant.Mode  `json:"kind"`
	Prefix     string       `json:"prefix"`
	Last4      string       `json:"last4"`
	Scopes     []auth.Scope `json:"scopes"`
	IPs        []string     `json:"ip_allow_list"`
	State      string       `json:"state"`
	ExpiresAt  *time.Time   `json:"expires_at"`
	LastUsedAt *time.Time   `json:"last_used_at"`
	LastUsedIP *string      `json:"last_used_ip"`
	CreatedAt  time.Time    `json:"created_at"`
	CreatedBy  string       `json:"created_by"`
	SpendLimit *int64       `json:"spend_limit_credits"`
	Spent      int64        `json:"used_this_month_credits"`
	SpentToday int64        `json:"used_today_credits"`
	Mandate    *mandate     `json:"mandate"`
	OldSecrets []oldSecret  `json:"old_secrets"`
	Secret     *string      `json:"secret"`
	ProfileIDs []string     `json:"profile_ids"`
	Usage      *usageOfKey  `json:"usage"`
	Days       []dayOfKey   `json:"usage_by_day"`
	// ByDay are the requests of each day of the last 30, the oldest first.
	ByDay []int64 `json:"-"`
}

type oldSecret struct {
	Last4 string    `json:"last4"`
	Until time.Time `json:"until"`
}

type calls struct {
	Requests int64 `json:"calls"`
	Refused  int64 `json:"refused"`
	Failed   int64 `json:"failed"`
}

type usageOfKey struct {
	LastDay   calls `json:"last_24h"`
	LastMonth calls `json:"last_30d"`
}

type dayOfKey struct {
	Date string `json:"day"`
	calls
}

// Active reports whether the key can be used, rotated and revoked.
func (k key) Active() bool { return k.State == "active" }

// Used reports whether there is a request in the time that the page shows.
func (k key) Used() bool { return k.Usage != nil && k.Usage.LastMonth.Requests > 0 }

// preset is a list of scopes for a purpose.
type preset struct {
	ID, Text string
	Scopes   []auth.Scope
}

var presets = []preset{
	{"all", "Everything", auth.AllScopes()},
	{"read", "Read only", []auth.Scope{auth.AccountRead, auth.FactoriesRead, auth.ContentRead, auth.ProductsRead}},
	{"make", "Make content", []auth.Scope{auth.AccountRead, auth.FactoriesRead, auth.FactoriesWrite, auth.ContentRead,
		auth.ContentWrite, auth.StudioUse, auth.ProductsRead}},
	{"publish", "Make and publish", []auth.Scope{auth.AccountRead, auth.FactoriesRead, auth.FactoriesWrite,
		auth.ContentRead, auth.ContentWrite, auth.ContentPublish, auth.ProductsRead, auth.SocialManage}},
	{"shop", "Manage a shop", []auth.Scope{auth.ProductsRead, auth.ProductsWrite, auth.ContentRead}},
	{"events", "Receive events", []auth.Scope{auth.AccountRead, auth.WebhooksManage}},
}

// Joined returns the scopes with spaces between them.
func (p preset) Joined() string { return scopeText(p.Scopes) }

// choice is a choice of a form.
type choice struct {
	Value, Text string
}

// overlaps are the times for which the earlier secret of a rotated key still works. A week is the longest.
var overlaps = []choice{{"0", "Now"}, {"900", "After 15 minutes"}, {"3600", "After 1 hour"}, {"21600", "After 6 hours"},
	{"86400", "After 24 hours"}, {"604800", "After 7 days"}}

// lifetimes are the times after which a new key expires, in days.
var lifetimes = []choice{{"", "Never"}, {"7", "After 7 days"}, {"30", "After 30 days"}, {"90", "After 90 days"},
	{"365", "After 1 year"}}

const keysPath = "/settings/api-keys"

func addKeys(open func(string, func(*request) error)) {
	open("GET "+keysPath, listKeys)
	open("GET "+keysPath+"/new", guarded("", newKey))
	// A preset of scopes, without scripts. The form has the token of the session, which no address may contain.
	open("POST "+keysPath+"/new", guarded("", newKey))
	open("POST "+keysPath, guarded(keysPath+"/new", createKey))
	open("GET "+keysPath+"/{id}", showKey)
	open("GET "+keysPath+"/{id}/seen", showSeen)
	open("GET "+keysPath+"/{id}/edit", guarded("", editKey))
	open("POST "+keysPath+"/{id}/edit", guarded("", changeKey))
	open("GET "+keysPath+"/{id}/rotate", guarded("", func(r *request) error {
		return showRotation(r, http.StatusOK, "")
	}))
	open("POST "+keysPath+"/{id}/rotate", guarded("", rotateKey))
}

// keys are what ends a key.
var keys = page[key]{
	Path: keysPath, API: "/v1/api-keys", Name: key.Label,
	Actions: []action[key]{{Name: "revoke", Method: http.MethodDelete, API: "?include_created=false", Recent: true,
		Done: "revoked", ToList: true, Ask: &confirmation{Title: "Revoke the key", Verb: "Revoke the key",
			Back: keysPath + "/{id}",
			Text: "Calls with the key are refused at once. A revoked key cannot be used again."},
		Effects: func(_ *request, v *view, k key) (effects []string, _ error) {
			if k.Usage != nil {
				effects = append(effects, v.T("Requests with it in the last 24 hours: %d.", k.Usage.LastDay.Requests))
			}
			return append(effects, v.T("Last used")+": "+v.ago(k.LastUsedAt)+"."), nil
		}},
		{Name: "leak", Method: http.MethodDelete, API: "?include_created=true", Recent: true,
			Ask: &confirmation{Title: "Report a leak", Back: keysPath + "/{id}",
				Verb: "Revoke the key and those made with it",
				Text: "Others may know the secret: it was published, sent or stolen. The key is revoked at once, and " +
					"so are the keys that were made with it. Then you see what was done with it."},
			To: auditPath + "?leak=1&key_id={id}"}},
}

// Label returns the name and the ends of a key.
func (k key) Label() string { return k.Name + " · " + k.Prefix + "…" + k.Last4 }

// apiPath returns a path of the API with the id of this page's path.
func (r *request) apiPath(collection string) string {
	return "/v1/" + collection + "/" + url.PathEscape(r.PathValue("id"))
}

func listKeys(r *request) error {
	var keys []key
	next, of := "", r.URL.Query().Get("profile_id")
	var err error
	if of == "" {
		next, err = r.api.list(r.Context(), "/v1/api-keys", cursor(r), &keys)
	} else {
		keys, err = r.keysOf(of)
	}
	if err != nil {
		return err
	}
	profiles, err := r.profilesOf(tenant.Live, tenant.Test)
	if err != nil {
		return err
	}
	r.addUsage(keys)
	v := r.view("API keys", keysPath)
	v.Data = map[string]any{"Keys": keys, "More": r.more(next), "Profile": of, "Names": names{Profiles: profiles}}
	if r.FormValue("done") == "revoked" {
		v.Notice = "The key is revoked. Calls with it are refused from now on."
	}
	return r.show(http.StatusOK, "keys", v)
}

// keysOfAccount returns the keys of the account.
func keysOfAccount(r *request) ([]key, error) {
	return listAll[key](r.Context(), r.api, "/v1/api-keys", nil, mostNames)
}

// keysOf returns the keys that are bound to a profile.
func (r *request) keysOf(profile string) (bound []key, err error) {
	all, err := keysOfAccount(r)
	for _, k := range all {
		if slices.Contains(k.ProfileIDs, profile) {
			bound = append(bound, k)
		}
	}
	return bound, err
}

// profilesOf returns the profiles of modes: a page of keys has those of live data and of the sandbox.
func (r *request) profilesOf(modes ...tenant.Mode) (all []named, err error) {
	for _, mode := range modes {
		a := r.api
		a.mode = mode
		some, err := listAll[named](r.Context(), a, "/v1/profiles", nil, mostNames)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// cursor returns the query of the page of a list that was asked for.
func cursor(r *request) url.Values {
	q := url.Values{"limit": {"20"}}
	if at := r.URL.Query().Get("cursor"); at != "" {
		q.Set("cursor", at)
	}
	return q
}

// addUsage adds the calls of the last 30 days to keys. The list is shown without them if they cannot be read.
func (r *request) addUsage(keys []key) {
	found := map[string]usageOfOne{}
	for _, mode := range []tenant.Mode{tenant.Live, tenant.Test} {
		if !slices.ContainsFunc(keys, func(k key) bool { return k.Kind == mode }) {
			continue
		}
		u, err := usageOf(r, mode, nil)
		if err != nil {
			slog.Warn("the usage of keys is not shown", "error", err)
			return
		}
		for _, one := range u.Keys {
			found[one.KeyID] = one
		}
	}
	for i := range keys {
		one := found[keys[i].ID]
		keys[i].Usage = &usageOfKey{LastMonth: one.calls}
		keys[i].ByDay = one.ByDay
	}
}

// keyDraft is what the form of a new key has.
type keyDraft struct {
	Name, Expires, IPs, Limit string
	// Preset is the id of the chosen preset, or empty if the scopes are chosen one by one.
	Preset   string
	Kind     tenant.Mode
	Scopes   []auth.Scope
	Profiles []string
	Mandate  mandateDraft
	// Opened is the time at which the form was opened, as a Unix time.
	Opened int64
}

// Bound reports whether a profile is chosen.
func (d keyDraft) Bound(profile string) bool { return slices.Contains(d.Profiles, profile) }

// ranges returns the address ranges, which commas or spaces divide.
func (d keyDraft) ranges() []string { return strings.Fields(strings.ReplaceAll(d.IPs, ",", " ")) }

// limit returns the spending limit, or nil without one.
func (d keyDraft) limit() (*int64, error) {
	if d.Limit == "" {
		return nil, nil
	}
	n, err := strconv.ParseInt(d.Limit, 10, 64)
	return &n, err
}

func (r *request) draft() keyDraft {
	d := keyDraft{Name: r.FormValue("name"), Expires: r.FormValue("expires"), IPs: r.FormValue("ips"),
		Limit: r.FormValue("limit"), Kind: tenant.Mode(r.FormValue("kind"))}
	d.Profiles, d.Scopes, d.Mandate = r.Form["profiles"], chosenScopes(r), mandateOf(r)
	if d.Kind == "" {
		d.Kind = r.session.Mode
	}
	// A form stays open for a day at most: an idempotency key works no longer.
	d.Opened, _ = strconv.ParseInt(r.FormValue("opened"), 10, 64)
	if now := r.site.Now().Unix(); d.Opened > now || d.Opened < now-24*60*60 {
		d.Opened = now
	}
	for _, p := range presets {
		if p.ID == r.FormValue("preset") {
			d.Scopes, d.Preset = p.Scopes, p.ID
		}
	}
	return d
}

func newKey(r *request) error { return r.showNewKey(nil) }

func (r *request) showNewKey(found fieldErrors) error {
	live, err := r.profilesOf(tenant.Live)
	if err != nil {
		return err
	}
	test, err := r.profilesOf(tenant.Test)
	if err != nil {
		return err
	}
	v := r.view("Create an API key", keysPath)
	v.mend(found)
	d := r.draft()
	if len(d.Scopes) == 0 && r.Method == http.MethodGet {
		d.Preset, d.Scopes = presets[1].ID, presets[1].Scopes
	}
	data := map[string]any{"Open": len(found) > 0 || d.Preset == "", "Draft": d, "LiveProfiles": live,
		"TestProfiles": test, "Presets": presets,
		"Lifetimes": lifetimes, "Rows": rowsOf(d.Scopes), "Preset": keysPath + "/new"}
	if err := addMandate(r, data, d.Mandate); err != nil {
		return err
	}
	v.Data = data
	return r.show(faulty(found), "key-new", v)
}

func createKey(r *request) error {
	d := r.draft()
	if len(d.Scopes) == 0 {
		return r.showNewKey(about("scopes", mends["/scopes"].text))
	}
	body := map[string]any{"name": d.Name, "kind": d.Kind, "scopes": d.Scopes}
	if days, err := strconv.Atoi(d.Expires); err == nil && days > 0 {
		// The days count from the time at which the form was opened, so that a reload of the answer is the same call.
		body["expires_at"] = time.Unix(d.Opened, 0).AddDate(0, 0, days).UTC().Format(time.RFC3339)
	}
	if len(d.Profiles) > 0 {
		body["profile_ids"] = d.Profiles
	}
	if ips := d.ranges(); len(ips) > 0 {
		body["ip_allow_list"] = ips
	}
	if limit, err := d.limit(); err != nil {
		return r.showNewKey(about("limit", mends["/spend_limit_credits"].text))
	} else if limit != nil {
		body["spend_limit_credits"] = *limit
	}
	if m, found := d.Mandate.body(nil); found != nil {
		return r.showNewKey(found)
	} else if m != nil {
		body["mandate"] = m
	}
	var made key
	err := r.api.change(r.Context(), http.MethodPost, "/v1/api-keys", r.once(), body, &made)
	if found, other := refused(err); other != nil {
		return other
	} else if found != nil {
		return r.showNewKey(found)
	}
	return r.showSecret("Your new API key", made)
}

// showSecret shows the secret of a key that was just made.
func (r *request) showSecret(title string, made key) error {
	v := r.view(title, keysPath)
	data := map[string]any{"Key": made, "Used": made.LastUsedAt != nil}
	if made.Secret != nil {
		data["Samples"] = filled(callSamples, r.site.URL, *made.Secret)
	}
	v.Data = data
	return r.show(http.StatusOK, "key-secret", v)
}

// showSeen tells whether a call with the key has arrived. The page of a new key asks until one has.
func showSeen(r *request) error {
	var k key
	if err := r.api.get(r.Context(), r.apiPath("api-keys"), nil, &k); err != nil {
		return err
	}
	v := r.view(k.Name, keysPath)
	v.Data = k.LastUsedAt != nil
	return r.show(http.StatusOK, "key-seen", v)
}

func showKey(r *request) error {
	var k key
	if err := r.api.get(r.Context(), r.apiPath("api-keys"), nil, &k); err != nil {
		return err
	}
	var n names
	if len(k.ProfileIDs) > 0 {
		var err error
		if n.Profiles, err = r.profilesOf(k.Kind); err != nil {
			return err
		}
	}
	v := r.view(k.Name, keysPath)
	v.Notice = map[string]string{"changed": "The key is changed."}[r.URL.Query().Get("done")]
	v.Data = map[string]any{"Key": k, "Chart": chartOfKey(k, v), "Names": n, "Rows": rowsOf(k.Scopes),
		"Maker": callersOf(r, nil).By(k.CreatedBy)}
	return r.show(http.StatusOK, "key", v)
}

func showRotation(r *request, status int, message string) error {
	var k key
	if err := r.api.get(r.Context(), r.apiPath("api-keys"), nil, &k); err != nil {
		return err
	}
	v := r.view("Rotate the key", keysPath)
	v.Error = message
	v.Data = map[string]any{"Key": k, "Overlaps": overlaps}
	return r.show(status, "key-rotate", v)
}

func rotateKey(r *request) error {
	overlap, err := strconv.Atoi(r.PostFormValue("overlap"))
	if err != nil {
		return showRotation(r, http.StatusUnprocessableEntity, "Choose when the earlier secret ends.")
	}
	var made key
	err = r.api.change(r.Context(), http.MethodPost, r.apiPath("api-keys")+"/rotate", r.once(),
		map[string]any{"overlap_seconds": overlap}, &made)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return showRotation(r, http.StatusUnprocessableEntity, message)
	}
	return r.showSecret("The new secret", made)
}

// editedKey returns the key of the page, and what the form has for it: the key itself before the form was sent.
func editedKey(r *request) (k key, d keyDraft, err error) {
	if err := r.api.get(r.Context(), r.apiPath("api-keys"), nil, &k); err != nil {
		return k, d, err
	}
	if r.Method == http.MethodPost {
		return k, r.draft(), nil
	}
	d = keyDraft{Name: k.Name, IPs: strings.Join(k.IPs, ", "), Kind: k.Kind, Scopes: k.Scopes,
		Expires: dayOf(k.ExpiresAt), Mandate: mandateDraftOf(k.Mandate)}
	if k.SpendLimit != nil {
		d.Limit = strconv.FormatInt(*k.SpendLimit, 10)
	}
	return k, d, nil
}

// dayOf returns the day of a time, or an empty text.
func dayOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func editKey(r *request) error {
	k, d, err := editedKey(r)
	if err != nil {
		return err
	}
	return showKeyEdit(r, k, d, nil)
}

func showKeyEdit(r *request, k key, d keyDraft, found fieldErrors) error {
	v := r.view("Edit the key", keysPath)
	v.mend(found)
	version := r.PostFormValue("version")
	if version == "" {
		version = strconv.FormatInt(k.Version, 10)
	}
	data := map[string]any{"Key": k, "Draft": d, "Rows": rowsOf(d.Scopes), "Presets": presets, "Version": version,
		"Preset": r.URL.Path}
	if err := addMandate(r, data, d.Mandate); err != nil {
		return err
	}
	v.Data = data
	return r.show(faulty(found), "key-edit", v)
}

// changesOf returns the patch of a key that a form asks for, or what to mend in it.
func changesOf(k key, d keyDraft) (patch map[string]any, found fieldErrors) {
	patch = map[string]any{}
	if d.Name != k.Name {
		patch["name"] = d.Name
	}
	if len(d.Scopes) == 0 {
		return nil, about("scopes", mends["/scopes"].text)
	}
	if !sameScopes(d.Scopes, k.Scopes) {
		patch["scopes"] = d.Scopes
	}
	if ips := d.ranges(); !slices.Equal(ips, k.IPs) {
		patch["ip_allow_list"] = ips
	}
	switch day, err := time.Parse(time.DateOnly, d.Expires); {
	case d.Expires == dayOf(k.ExpiresAt):
	case d.Expires == "":
		patch["expires_at"] = nil
	case err != nil:
		return nil, about("expires", mends["/expires_at"].text)
	default:
		patch["expires_at"] = day.Format(time.RFC3339)
	}
	limit, err := d.limit()
	switch before := k.SpendLimit; {
	case err != nil:
		return nil, about("limit", mends["/spend_limit_credits"].text)
	case limit == nil && before != nil:
		patch["spend_limit_credits"] = nil
	case limit != nil && (before == nil || *before != *limit):
		patch["spend_limit_credits"] = *limit
	}
	if d.Mandate.differs(k.Mandate) {
		m, found := d.Mandate.body(k.Mandate)
		if found != nil {
			return nil, found
		}
		patch["mandate"] = nil
		if m != nil {
			patch["mandate"] = m
		}
	}
	return patch, nil
}

// sameScopes reports whether two lists have the same scopes.
func sameScopes(a, b []auth.Scope) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// proposalOf lists the changes of a key in words.
func proposalOf(v *view, k key, d keyDraft) proposal {
	p := proposal{Title: "Edit the key", Subject: k.Label(), Active: keysPath,
		Effects: []string{v.T("The changes count from the next call with the key.")}}
	all := changed(v, nil, "Name", k.Name, d.Name)
	all = changedSet(v, all, "Adds the scope %s", "Removes the scope %s", strings.Fields(scopeText(k.Scopes)),
		strings.Fields(scopeText(d.Scopes)))
	all = changedSet(v, all, "Adds the address range %s", "Removes the address range %s", k.IPs, d.ranges())
	day := func(text string) string {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return v.T("Never")
		}
		return v.Day(at)
	}
	if d.Expires != dayOf(k.ExpiresAt) {
		all = changed(v, all, "Expires", day(dayOf(k.ExpiresAt)), day(d.Expires))
	}
	before := ""
	if k.SpendLimit != nil {
		before = strconv.FormatInt(*k.SpendLimit, 10)
	}
	all = changed(v, all, "Spending limit", before, d.Limit)
	p.Changes = changedMandate(v, all, k.Mandate, d.Mandate)
	if k.Mandate != nil && d.Mandate.sent && d.Mandate.empty() {
		p.Effects = append(p.Effects, v.T("Without agent limits, only the scopes limit what an agent does."))
	}
	if len(k.IPs) > 0 && len(d.ranges()) == 0 {
		p.Effects = append(p.Effects, v.T("Without a list, all addresses may use the key."))
	}
	return p
}

// changeKey lists the changes of a form first, and saves them when the person has seen them.
func changeKey(r *request) error {
	k, d, err := editedKey(r)
	if err != nil {
		return err
	}
	patch, found := changesOf(k, d)
	step := r.PostFormValue("step")
	switch {
	case r.PostFormValue("preset") != "" || step == stepBack:
		return showKeyEdit(r, k, d, nil)
	case found == nil && len(patch) == 0:
		found = about("", messageNoChange)
	}
	if found != nil {
		return showKeyEdit(r, k, d, found)
	}
	if step != stepSave {
		return propose(r, proposalOf(r.view("", ""), k, d))
	}
	a := r.api
	a.version = r.PostFormValue("version")
	err = a.change(r.Context(), http.MethodPatch, r.apiPath("api-keys"), r.once(), patch, nil)
	if found, err = refused(err); err != nil {
		return err
	} else if found != nil {
		return showKeyEdit(r, k, d, found)
	}
	return r.redirect(keysPath + "/" + k.ID + "?done=changed")
}

// level is a choice of the scopes of one resource.
type level struct {
	Text   string
	Scopes []auth.Scope
	// Chosen reports that the form has it.
	Chosen bool
}

// Value is the value of the field: the scopes with spaces between them.
func (l level) Value() string { return scopeText(l.Scopes) }

// Spends reports whether calls with the scopes may cost credits, and Publishes whether they may publish.
func (l level) Spends() bool { return slices.ContainsFunc(l.Scopes, spends) }

// Publishes reports whether calls with the scopes may publish.
func (l level) Publishes() bool { return slices.Contains(l.Scopes, auth.ContentPublish) }

// spends reports whether an operation of a scope costs credits.
func spends(s auth.Scope) bool {
	return slices.Contains([]auth.Scope{auth.FactoriesWrite, auth.ContentWrite, auth.StudioUse, auth.ArchitectUse}, s)
}

// scopeRow is a resource with the levels of access to it.
type scopeRow struct {
	// Field is the name of its field.
	Field, Text string
	// Permits are the sentences that say what its scopes permit.
	Permits []string
	Levels  []level
}

// scopeRows are all scopes by resource. The first level of each row is none.
var scopeRows = []scopeRow{
	row("account", "Account", level{Text: "Read", Scopes: []auth.Scope{auth.AccountRead}},
		level{Text: "Manage", Scopes: []auth.Scope{auth.AccountRead, auth.AccountManage}}),
	row("factories", "Factories", level{Text: "Read", Scopes: []auth.Scope{auth.FactoriesRead}},
		level{Text: "Write", Scopes: []auth.Scope{auth.FactoriesRead, auth.FactoriesWrite}}),
	row("content", "Content", level{Text: "Read", Scopes: []auth.Scope{auth.ContentRead}},
		level{Text: "Write", Scopes: []auth.Scope{auth.ContentRead, auth.ContentWrite}}),
	row("publishing", "Publishing", level{Text: "Publish", Scopes: []auth.Scope{auth.ContentPublish}}),
	row("studio", "Studio", level{Text: "Use", Scopes: []auth.Scope{auth.StudioUse}}),
	row("products", "Products", level{Text: "Read", Scopes: []auth.Scope{auth.ProductsRead}},
		level{Text: "Write", Scopes: []auth.Scope{auth.ProductsRead, auth.ProductsWrite}}),
	row("social", "Social accounts", level{Text: "Manage", Scopes: []auth.Scope{auth.SocialManage}}),
	row("architect", "Architect", level{Text: "Use", Scopes: []auth.Scope{auth.ArchitectUse}}),
	row("webhooks", "Webhooks", level{Text: "Manage", Scopes: []auth.Scope{auth.WebhooksManage}}),
}

// row returns the row of a resource, whose last level has all of its scopes.
func row(name, text string, levels ...level) scopeRow {
	r := scopeRow{Field: "scopes-" + name, Text: text, Levels: append([]level{{Text: "No access"}}, levels...)}
	for _, s := range auth.Scopes {
		if slices.Contains(levels[len(levels)-1].Scopes, s.Scope) {
			r.Permits = append(r.Permits, s.Permits)
		}
	}
	return r
}

func (r scopeRow) all() []auth.Scope { return r.Levels[len(r.Levels)-1].Scopes }

// rowsOf returns the rows with the levels of a list of scopes. A combination that no level has, such as writing without
// reading, gets a level of its own.
func rowsOf(chosen []auth.Scope) []scopeRow {
	rows := make([]scopeRow, len(scopeRows))
	for i, r := range scopeRows {
		var has []auth.Scope
		for _, s := range r.all() {
			if slices.Contains(chosen, s) {
				has = append(has, s)
			}
		}
		r.Levels = slices.Clone(r.Levels)
		at := slices.IndexFunc(r.Levels, func(l level) bool { return slices.Equal(l.Scopes, has) })
		if at < 0 {
			at = len(r.Levels)
			r.Levels = append(r.Levels, level{Text: "As it is", Scopes: has})
		}
		r.Levels[at].Chosen = true
		rows[i] = r
	}
	return rows
}

// scopeText returns scopes with spaces between them.
func scopeText(scopes []auth.Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, " ")
}

// chosenScopes returns the scopes of the form: those of the rows, and those that are listed one by one.
func chosenScopes(r *request) (all []auth.Scope) {
	given := slices.Clone(r.Form["scopes"])
	for _, of := range scopeRows {
		given = append(given, strings.Fields(r.FormValue(of.Field))...)
	}
	for _, name := range given {
		if s := auth.Scope(name); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
