package console

import (
	"errors"
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

// fieldErrors are what to mend in a form, by the names of its fields, in English. The empty name has what is about no
// field.
type fieldErrors map[string]string

// formFields are the fields of forms in the order in which pages show them: the first with an error gets the focus.
var formFields = []string{"url", "name", "email", "kind", "expires", "ips", "limit", "profiles",
	"credits_a_day", "until", "quiet_from", "quiet_to", "quiet_zone", "description",
	"event_types", "scopes", "logo", "region", "factory_id", "trigger", "cron", "prompt", "most", "domain", "groups",
	"metadata_url", "metadata", "issuer", "client_id", "client_secret", "from", "to", "operation_id", "status",
	"key_id", "request_id", "type", "object_id", "role", "may", "days", "zone", "note", "typed"}

// mend is a field of a form and what to do if the API refuses it.
type mend struct{ field, text string }

// mends are the fields of forms by the members and parameters of the API that they fill.
var mends = map[string]mend{
	"/name":                  {"name", "Give it a name of up to 100 characters."},
	"/scopes":                {"scopes", "Choose at least one scope."},
	"/ip_allow_list":         {"ips", "Write address ranges such as 192.0.2.0/24, with commas between them."},
	"/expires_at":            {"expires", "Choose a time in the future."},
	"/spend_limit_credits":   {"limit", "The spending limit is a whole number of credits."},
	"/profile_ids":           {"profiles", "Choose profiles of the key's environment."},
	"/url":                   {"url", "Write an address that begins with https:// and that the internet reaches."},
	"/event_types":           {"event_types", "Choose at least one event."},
	"/description":           {"description", "A description has up to 200 characters."},
	"/email":                 {"email", "Write an e-mail address, such as ada@acme.example."},
	"/role":                  {"role", "Choose a role that you may give."},
	"/logo":                  {"logo", "Write the id of a picture of up to 64 KiB, such as med_…"},
	"/region":                {"region", "Write a country in two letters, such as DE."},
	"/trigger/url":           {"url", "Write the address of an RSS, Atom or JSON Feed that the internet reaches."},
	"/trigger/cron":          {"cron", "Write five fields, such as 30 9 * * 1-5."},
	"/template/prompt":       {"prompt", "Write a prompt of up to 4000 characters, with known names in braces only."},
	"/max_per_day":           {"most", "The number of items a day is a whole number."},
	"/factory_id":            {"factory_id", "Choose a factory that fits."},
	"/domain":                {"domain", "Write a domain of your company, such as acme.example."},
	"/groups":                {"groups", "Write a line for each group, such as: api-admins = admin."},
	"/default_role":          {"role", "Choose a role that you may give."},
	"/metadata_url":          {"metadata_url", "Write the address of the metadata, or paste the metadata themselves."},
	"/metadata":              {"metadata", "Paste the metadata of your provider: an XML document."},
	"/issuer":                {"issuer", "Write the issuer as your provider names it: it begins with https://."},
	"/client_id":             {"client_id", "Write the client id that your provider has given you."},
	"/client_secret":         {"client_secret", "Write the client secret that your provider has given you."},
	"/daily_limit":           {"limit", "Write a whole number, 600 or more on X. Others than X and YouTube have none."},
	"from":                   {"from", "Choose a day, or leave it empty."},
	"to":                     {"to", "Choose a day after the first one, or leave it empty."},
	"status":                 {"status", "A status is a number from 100 to 599, or a class such as 4xx."},
	"key_id":                 {"key_id", "Choose a key of the list."},
	"request_id":             {"request_id", "Write the id of a request as the API has answered it."},
	"operation_id":           {"operation_id", "Write the name of an operation, such as createApiKey."},
	"type":                   {"type", "Choose a type of event, such as content.generated."},
	"object_id":              {"object_id", "Write the id of a resource, such as cnt_…"},
	"/overlap_seconds":       {"overlap", "Choose when the earlier secret ends."},
	"/social_account_id":     {"", "This social account cannot be connected again."},
	"/trigger":               {"trigger", "Choose what starts the automation."},
	"/secondary_url":         {"url", "Write an address that begins with https:// and that the internet reaches."},
	"/metadata_url/metadata": {"metadata", "Paste the metadata of your provider: an XML document."},

	"/mandate/credits_a_day":        {"credits_a_day", "Credits a day are a whole number."},
	"/mandate/until":                {"until", "Choose the day on which the mandate ends."},
	"/mandate/quiet_hours/from":     {"quiet_from", "Write the time at which the quiet hours begin, such as 22:00."},
	"/mandate/quiet_hours/to":       {"quiet_to", "Write the time at which the quiet hours end, such as 08:00."},
	"/mandate/quiet_hours/timezone": {"quiet_zone", "Write a time zone such as Europe/Berlin."},
}

// codes are what to do about an error that is about no field.
var codes = map[errs.Code]string{
	errs.VersionMismatch:      "It has changed since you opened the page. Look at it again, and repeat.",
	errs.InsufficientBalance:  "The balance is too low for this.",
	errs.IdempotencyKeyReused: "This form was sent before with other values. Open the page again and repeat.",
}

// refused returns what to mend in a form that the API has refused, or the error itself if the person cannot mend it.
func refused(err error) (fieldErrors, error) {
	var failed *failure
	if message, other := form(err); message == "" {
		return nil, other
	} else if !errors.As(err, &failed) {
		return nil, err
	}
	found := fieldErrors{}
	details := failed.Details
	if len(details) == 0 {
		details = []detail{{failed.Param, failed.Message}}
	}
	for _, d := range details {
		found.add(d.Param, errs.Code(failed.Code), d.Message)
	}
	return found, nil
}

// messageMarked is above a form with marked fields.
const messageMarked = "Mend the marked fields. Nothing was changed."

// form returns the message of a failure that the person can mend in the form, or the error itself. The views of the
// request mark its fields.
func (r *request) form(err error) (message string, other error) {
	if r.found, other = refused(err); r.found == nil {
		return "", other
	}
	if message = r.found[""]; message == "" {
		message = messageMarked
	}
	return message, nil
}

// mark marks a field in the views of the request, and returns the message above the form.
func mark(r *request, field, message string) string {
	r.found = about(field, message)
	return messageMarked
}

// add adds the error of a member or a parameter. An unknown one stays as the API says it.
func (f fieldErrors) add(param string, code errs.Code, message string) {
	for at := param; at != "" && at != "/"; {
		if m, ok := mends[at]; ok {
			f[m.field] = m.text
			return
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			break
		}
		at = at[:i]
	}
	if text, ok := codes[code]; ok {
		message = text
	}
	f[""] = message
}

// mendable returns what to mend for a public error of the service itself.
func mendable(e *errs.Error) fieldErrors {
	found := fieldErrors{}
	param := e.Param
	if param != "" && !strings.HasPrefix(param, "/") {
		param = "/" + param
	}
	found.add(param, e.Code, e.Message)
	return found
}

// about returns the error of one field.
func about(field, message string) fieldErrors {
	if message == "" {
		return nil
	}
	return fieldErrors{field: message}
}

// mend marks the fields of a form that are to be mended.
func (v *view) mend(found fieldErrors) {
	if v.FieldErrors, v.Error = found, found[""]; v.Error == "" && len(found) > 0 {
		v.Error = messageMarked
	}
}

// FieldError returns what to mend in a field, or an empty text.
func (v *view) FieldError(field string) string { return v.FieldErrors[field] }

// Faulty returns the fields with errors in the order of the page.
func (v *view) Faulty() (all []string) {
	for _, field := range formFields {
		if v.FieldErrors[field] != "" {
			all = append(all, field)
		}
	}
	return all
}

// FirstError returns the first field with an error, which gets the focus.
func (v *view) FirstError() string {
	if all := v.Faulty(); len(all) > 0 {
		return all[0]
	}
	return ""
}

// faulty returns the status of a form with or without errors.
func faulty(found fieldErrors) int {
	if len(found) > 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// Manages reports whether the person manages people and sign-on.
func (v *view) Manages() bool { return v.Role.Manages() }

// Reads reports whether the person reads only.
func (v *view) Reads() bool { return v.Role == auth.Auditor }

// Changes reports whether the person may change or remove people of a role.
func (v *view) Changes(role string) bool {
	return v.Manages() && (v.Role == auth.Owner || role != string(auth.Owner))
}
