package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
)

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
	p := proposal{Title: "Edit the key", Subject: k.Name + " · " + k.Prefix + "…" + k.Last4, Active: keysPath,
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
		p.Effects = append(p.Effects, v.T("Without a mandate, the scopes alone bound what an agent does."))
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
