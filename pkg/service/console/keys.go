package console

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
)

// key is an API key, with its secret when it was just made. Only that of one has its usage.
type key struct {
	client.APIKeyDetails
	Secret *string `json:"secret"`
	// ByDay are the requests of each day of the last 30, the oldest first.
	ByDay []int64 `json:"-"`
}

// Active reports whether the key can be used, rotated and revoked.
func (k key) Active() bool { return k.State == client.APIKeyStateActive }

// Label returns the name and the ends of a key.
func (k key) Label() string { return k.Name + " · " + k.Prefix + "…" + k.Last4 }

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
func (p preset) Joined() string { return strings.Join(asTexts(p.Scopes), " ") }

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

func addKeys(open func(string, func(*request) error)) { open("GET "+keysPath+"/{id}/seen", showSeen) }

// keyInputs are the inputs of the forms of a key, beside its environment, its clients and its end.
var keyInputs = slices.Concat([]input{
	{Name: "preset", Label: "The program may", Kind: asOwn},
	{Name: "name", Member: "name", Label: "Name", Must: true, Wide: true,
		Help: "The program that uses the key, such as “CRM integration”."},
	{Name: "limit", Member: "spend_limit_credits", Label: "Spending limit", Kind: asDigits,
		Help: "Credits a month. Without a number there is no limit."},
	{Name: "ips", Member: "ip_allow_list", Label: "IP allow-list", Kind: asWords, Holder: "192.0.2.0/24",
		Added: "Adds the address range %s", Removed: "Removes the address range %s",
		Help: "The networks that may use the key, with commas between them. Leave it empty for all."},
	{Name: "scopes", Member: "scopes", Kind: asScopes, Added: "Adds the scope %s", Removed: "Removes the scope %s"},
}, mandateInputs)

var keys = page[key]{
	Title: "API keys", Lead: "A key gives a program access to the API, within its scopes.", Path: keysPath,
	API: "/v1/api-keys", List: "keys", Icon: "key", Empty: "There are no keys yet", Name: key.Label,
	Hint: "Create the first one, and call the API within a minute.", NoMatch: "No key is bound to this profile",
	Columns: []column{{Text: "Name"}, {Text: "Last 30 days", At: "md"}, {Text: "Last used", At: "sm"},
		{Text: "Expires", At: "lg"}, {Text: "State"}, {Text: "Actions", Quiet: true}},
	Filters: []string{"profile_id"}, Rows: rowsOfKeys, More: addCalls, Show: "key", Below: aboutKey,
	Create: &form[key]{Title: "Create an API key", Verb: "Create the key", Template: "key-new", Recent: true,
		Anew: "preset", Add: addKeyFields, Fill: expireIn, Made: func(r *request, made key) error {
			return r.showSecret("Your new API key", made)
		},
		Inputs: append([]input{{Name: "kind", Member: "kind", Label: "Environment", Kind: asSelect, Choices: modes},
			{Name: "expires", Label: "Expires", Kind: asSelect, Choices: lifetimes},
			{Name: "profiles", Member: "profile_ids", Kind: asBoxes}}, keyInputs...)},
	Edit: &form[key]{Title: "Edit the key", Verb: "Review the changes", Template: "key-edit", Recent: true,
		Review: true, Anew: "preset", Add: addKeyFields, Effects: effectsOfKey,
		Inputs: append([]input{{Name: "expires", Member: "expires_at", Label: "Expires", Kind: asDate, None: "Never",
			Help: "The key ends when this day begins, in UTC. Without a day, it never ends."}}, keyInputs...)},
	Actions: []action[key]{{Name: "revoke", Method: http.MethodDelete, API: "?include_created=false", Recent: true,
		Done: "revoked", ToList: true, Ask: &confirmation{Title: "Revoke the key", Verb: "Revoke the key",
			Text: "Calls with the key are refused at once. A revoked key cannot be used again."},
		Effects: func(_ *request, v *view, k key) ([]string, error) {
			return []string{v.T("Requests with it in the last 24 hours: %d.", k.Usage.Last24h.Calls),
				v.T("Last used") + ": " + v.ago(k.LastUsedAt) + "."}, nil
		}},
		{Name: "leak", Method: http.MethodDelete, API: "?include_created=true", Recent: true,
			Ask: &confirmation{Title: "Report a leak", Verb: "Revoke the key and those made with it",
				Text: "Others may know the secret: it was published, sent or stolen. The key is revoked at once, and " +
					"so are the keys that were made with it. Then you see what was done with it."},
			To: auditPath + "?leak=1&key_id={id}"},
		{Name: "rotate", Method: http.MethodPost, API: "/rotate", Recent: true,
			Ask: &confirmation{Title: "Rotate the key", Verb: "Rotate", Harmless: true,
				Text: "The key gets a new secret. Choose when the earlier one ends, so that your program has time to " +
					"change."},
			Choice: func(*request, *view, key) (*chosen, error) {
				return &chosen{Name: "overlap", Legend: "The earlier secret ends", Value: "86400", Of: overlaps}, nil
			},
			Body: func(r *request) (any, error) {
				n, err := strconv.Atoi(r.PostFormValue("overlap"))
				if err != nil {
					return nil, about("", mends["/overlap_seconds"].text)
				}
				return map[string]any{"overlap_seconds": n}, nil
			},
			Then: func(r *request, made key) error { return r.showSecret("The new secret", made) }}},
	Done: map[string]string{"changed": "The key is changed.",
		"revoked": "The key is revoked. Calls with it are refused from now on."},
}

// modes are the environments of a key.
var modes = []choice{{"live", "Live"}, {"test", "Sandbox"}}

// apiPath returns a path of the API with the id of this page's path.
func (r *request) apiPath(collection string) string {
	return "/v1/" + collection + "/" + url.PathEscape(r.PathValue("id"))
}

// rowsOfKeys reads a page of the keys of the account, or those that are bound to a profile.
func rowsOfKeys(r *request, query url.Values) (all []key, next string, err error) {
	if of := query.Get("profile_id"); of != "" {
		all, err = r.keysOf(of)
		return all, "", err
	}
	next, err = r.api.list(r.Context(), "/v1/api-keys", query, &all)
	return all, next, err
}

func keysOfAccount(r *request) ([]key, error) {
	return listAll[key](r.Context(), r.api, "/v1/api-keys", nil, mostNames)
}

// keysOf returns the keys that are bound to a profile.
func (r *request) keysOf(profile string) ([]key, error) {
	all, err := keysOfAccount(r)
	return slices.DeleteFunc(all, func(k key) bool { return !slices.Contains(k.ProfileIDs, profile) }), err
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

// addProfiles adds the profiles of live data and of the sandbox to a page.
func (r *request) addProfiles(to map[string]any) error {
	var live, test []named
	err := atOnce(func() (err error) { live, err = r.profilesOf(tenant.Live); return err },
		func() (err error) { test, err = r.profilesOf(tenant.Test); return err })
	to["LiveProfiles"], to["TestProfiles"] = live, test
	return err
}

// cursor returns the query of the page of a list that was asked for.
func cursor(r *request) url.Values {
	q := url.Values{"limit": {"20"}}
	if at := r.URL.Query().Get("cursor"); at != "" {
		q.Set("cursor", at)
	}
	return q
}

// addCalls adds the names of profiles to the list of keys, and the calls of the last 30 days to its keys. The list is
// shown without them if they cannot be read.
func addCalls(r *request, _ *view, all []key, to map[string]any) error {
	profiles, err := r.profilesOf(tenant.Live, tenant.Test)
	if to["Names"] = (names{Profiles: profiles}); err != nil {
		return err
	}
	found := map[string]client.UsageOfKey{}
	for _, mode := range []tenant.Mode{tenant.Live, tenant.Test} {
		if !slices.ContainsFunc(all, func(k key) bool { return string(k.Kind) == string(mode) }) {
			continue
		}
		u, err := usageOf(r, mode, nil)
		if err != nil {
			slog.Warn("the usage of keys is not shown", "error", err)
			return nil
		}
		for _, one := range u.Keys {
			found[one.KeyID] = one
		}
	}
	for i := range all {
		one := found[all[i].ID]
		all[i].Usage.Last30d.Calls, all[i].ByDay = one.Calls, one.CallsByDay
	}
	return nil
}

// aboutKey adds the requests, the profiles and the maker of a key to its page.
func aboutKey(r *request, v *view, k key, to map[string]any) (err error) {
	v.Title = k.Name
	var n names
	if len(k.ProfileIDs) > 0 {
		n.Profiles, err = r.profilesOf(tenant.Mode(k.Kind))
	}
	to["Names"], to["Chart"], to["Rows"] = n, chartOfKey(k, v), rowsOf(asTexts(k.Scopes))
	to["Maker"] = callersOf(r, nil).By(k.CreatedBy)
	return err
}

// addKeyFields adds what the form of a key shows beside its inputs. That of a new key is for the mode of the page, and
// permits reading.
func addKeyFields(r *request, v *view, to map[string]any) (err error) {
	d, _ := to["Draft"].(draft)
	to["Presets"], to["Preset"] = presets, r.URL.Path
	if r.PathValue("id") == "" {
		to["Preset"] = keysPath + "/new"
		if d.Get("kind") == "" {
			d["kind"] = []string{string(r.session.Mode)}
		}
		if len(d["scopes"]) == 0 && r.Method == http.MethodGet {
			d["preset"], d["scopes"] = []string{presets[1].ID}, asTexts(presets[1].Scopes)
		}
		if err = r.addProfiles(to); err != nil {
			return err
		}
	}
	to["Rows"] = rowsOf(d["scopes"])
	return addMandate(r, v, d, to)
}

// expireIn sets the end of a new key.
func expireIn(r *request, d draft, body map[string]any) fieldErrors {
	if days, err := strconv.Atoi(d.Get("expires")); err == nil && days > 0 {
		body["expires_at"] = r.opened().AddDate(0, 0, days).Format(time.RFC3339)
	}
	return nil
}

// opened returns the time at which a form was opened, from which its days count: a repeat of the form is the same call.
// A form stays open for a day at most, because an idempotency key works no longer.
func (r *request) opened() time.Time {
	now := r.site.Now().UTC()
	at, err := strconv.ParseInt(r.FormValue("opened"), 10, 64)
	if opened := time.Unix(at, 0).UTC(); err == nil && !opened.After(now) && opened.After(now.AddDate(0, 0, -1)) {
		return opened
	}
	return now.Truncate(time.Second)
}

// effectsOfKey tells what follows from a change of a key.
func effectsOfKey(patch map[string]any) []string {
	all := []string{"The changes count from the next call with the key."}
	if m, changes := patch["mandate"]; changes && m == nil {
		all = append(all, "Without agent limits, only the scopes limit what an agent does.")
	}
	if ips, changes := patch["ip_allow_list"]; changes && ips == nil {
		all = append(all, "Without a list, all addresses may use the key.")
	}
	return all
}

// makeKey makes a key as the person, whose secret nobody has seen yet.
func (r *request) makeKey(mode tenant.Mode, body map[string]any) (made key, err error) {
	a := r.api
	a.mode, body["kind"] = mode, mode
	err = a.change(r.Context(), http.MethodPost, "/v1/api-keys", r.once(), body, &made)
	if err == nil && made.Secret == nil {
		err = errSent
	}
	return made, err
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
	k, err := keys.read(r)
	if err != nil {
		return err
	}
	v := r.view(k.Name, keysPath)
	v.Data = k.LastUsedAt != nil
	return r.show(http.StatusOK, "key-seen", v)
}

// level is a choice of the scopes of one resource.
type level struct {
	Text   string
	Scopes []auth.Scope
	// Chosen reports that the form has it.
	Chosen bool
}

// Value is the value of the field: the scopes with spaces between them.
func (l level) Value() string { return strings.Join(asTexts(l.Scopes), " ") }

// Spends reports whether calls with the scopes may cost credits, and Publishes whether they may publish.
func (l level) Spends() bool { return slices.ContainsFunc(l.Scopes, spends) }

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
func rowsOf(chosen []string) []scopeRow {
	rows := make([]scopeRow, len(scopeRows))
	for i, r := range scopeRows {
		var has []auth.Scope
		for _, s := range r.all() {
			if slices.Contains(chosen, string(s)) {
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

// asTexts returns values as texts.
func asTexts[T ~string](values []T) []string {
	return mapped(values, func(v T) string { return string(v) })
}

// mapped returns what a function makes of each of some values.
func mapped[T, U any](all []T, of func(T) U) []U {
	made := make([]U, len(all))
	for i, one := range all {
		made[i] = of(one)
	}
	return made
}

// chosenScopes returns the scopes of the form: those of a preset, or those of the rows and those that are listed one by
// one.
func chosenScopes(r *request) (all []string) {
	for _, p := range presets {
		if p.ID == r.FormValue("preset") {
			return asTexts(p.Scopes)
		}
	}
	given := slices.Clone(r.Form["scopes"])
	for _, of := range scopeRows {
		given = append(given, strings.Fields(r.FormValue(of.Field))...)
	}
	for _, name := range given {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
