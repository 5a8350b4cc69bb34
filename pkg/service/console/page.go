package console

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
)

// page is a kind of resources in the account area: its list, and what people do with one of them. A kind is declared,
// and its handlers are those of this file. Its rows and details are in its templates.
type page[T any] struct {
	// Title and Lead head the list. Active is the link of the menu, if the list has none.
	Title, Lead, Active string
	// Path is the address of the list, and API the collection that it shows.
	Path, API string
	// One is the path of one resource in the API, if it is not that of the collection with the id.
	One string
	// ID is the name of the id in the paths, if it is not "id".
	ID string
	// List is the template of the list. A page without one has details only. Empty and Hint are shown for no rows.
	List, Empty, Hint, Icon string
	// NoMatch is shown in their place if filters are set.
	NoMatch string
	Columns []column
	Filters []string
	// Rows reads the rows of the list and the cursor of the next ones, if that is more than one call of the API.
	Rows func(r *request, query url.Values) ([]T, string, error)
	// States are the choices of the filter by state.
	States []string
	// Names reports that the pages name factories and profiles.
	Names bool
	// Narrow adds to the query of the list what no filter chooses.
	Narrow func(r *request, query url.Values)
	// Folded are further filters, which the page shows folded.
	Folded []input
	// More adds what the list shows beside its rows.
	More func(r *request, v *view, rows []T, to map[string]any) error
	// Show is the template of one resource, if it has a page. Heading is the title of its page, and Below adds what it
	// shows beside the resource.
	Show, Heading string
	Below         func(r *request, v *view, one T, to map[string]any) error
	// Name is the name by which people know a resource. Read reads one, if the API has no operation for it.
	Name    func(T) string
	Read    func(r *request) (T, error)
	Create  *form[T]
	Edit    *form[T]
	Actions []action[T]
	// Done are the notices after forms.
	Done map[string]string
	// Owners reports that there is the page for owners alone.
	Owners bool
}

// column is a column of a list. At is the width of the window from which it is shown, and From that from which its
// heading is. A quiet heading is for screen readers only.
type column struct {
	Text, At, From string
	// End puts it at the end of its column.
	Quiet, End bool
}

// Class returns the classes of the heading.
func (c column) Class() string {
	class := ""
	if c.At != "" {
		class = "hidden " + c.At + ":table-cell"
	}
	if c.End {
		class += " text-end"
	}
	return class
}

// action is what people do with one resource beside its change.
type action[T any] struct {
	// Name ends the path of its form. Method and API are the call: API is added to the path of the resource.
	Name, Method, API string
	// Ask is the page that asks before, if there is one. Typed reports that the name of the resource is typed then.
	Ask   *confirmation
	Typed bool
	// Text returns what the page that asks says, if that depends on the resource.
	Text func(one T) string
	// Effects are what it does, in numbers.
	Effects func(r *request, v *view, one T) ([]string, error)
	// Choice is what the person chooses on the page that asks.
	Choice func(r *request, v *view, one T) (*chosen, error)
	// Recent reports that it needs a recent sign-in, and Owners that only owners do it.
	Recent, Owners bool
	// Do does it, if it is no call of the API.
	Do func(r *request) error
	// Body is the body of its call, and Fields are what the page that asks passes on for it.
	Body   func(r *request) (body any, err error)
	Fields func(r *request, one T) []choice
	// Done names the notice after it. Without a name it is the state of the form. A form that names a page of its own
	// returns to it. ToList leads to the list, and To to another page.
	Done, To string
	ToList   bool
	// Then shows the answer, in place of the page of the resource.
	Then func(r *request, made T) error
}

// route is a page or a form of a declared page. Call is the method and the path that it calls to change something.
type route struct {
	Pattern string
	Handle  func(*request) error
	Call    string
	Recent  bool
	Inputs  []input
}

// declared is a page of any kind.
type declared interface{ routes() []route }

// pages are the declared pages.
var pages = []declared{webhooks.declare(), deliveries.declare(), eventPages.declare(), reviewLinks.declare(),
	automations.declare(), experiments.declare(), profiles.declare(), socialAccounts.declare(),
	applications.declare(), integrations.declare(), persons.declare(), keys.declare(), contentItems.declare(),
	signOn.declare(), erasures.declare(), mandates.declare(), programs.declare(), calls.declare(), feeds.declare(),
	feedPages.declare(), feedRuns.declare(), feedProducts.declare(), exports.declare(), designs.declare()}

// declare fills what follows from the rest of a declaration.
func (p *page[T]) declare() declared {
	if p.ID == "" {
		p.ID = "id"
	}
	if p.Active == "" {
		p.Active = p.Path
	}
	if p.One == "" {
		p.One = p.API + "/{" + p.ID + "}"
	}
	if p.Create != nil {
		p.Create.call, p.Create.At = "POST "+p.API, cmp.Or(p.Create.At, "/new")
	}
	if p.Edit != nil {
		p.Edit.Method = cmp.Or(p.Edit.Method, http.MethodPatch)
		p.Edit.call = p.Edit.Method + " " + p.One
	}
	return p
}

// New returns the title of the form of a new resource that the list links, or an empty text.
func (p *page[T]) New() string {
	if p.Create == nil || p.Create.Inline {
		return ""
	}
	return p.Create.Title
}

// None returns what is shown for no rows, with or without filters.
func (p *page[T]) None(filters map[string]string) string {
	for _, value := range filters {
		if value != "" {
			return cmp.Or(p.NoMatch, p.Empty)
		}
	}
	return p.Empty
}

// addPages adds the declared pages.
func addPages(open func(string, func(*request) error)) {
	for _, p := range pages {
		for _, one := range p.routes() {
			open(one.Pattern, one.Handle)
		}
	}
}

// routes returns the pages and forms of a kind.
func (p *page[T]) routes() (all []route) {
	one := p.Path + "/{" + p.ID + "}"
	add := func(pattern, call string, recent bool, form string, handle func(*request) error) {
		if p.Owners {
			handle = owning(handle)
		}
		if recent {
			handle = guarded(form, handle)
		}
		all = append(all, route{Pattern: pattern, Handle: handle, Call: call, Recent: recent})
	}
	if p.List != "" {
		add("GET "+p.Path, "", false, "", func(r *request) error { return p.list(r, http.StatusOK, "") })
	}
	if f := p.Create; f != nil {
		if !f.Inline {
			add("GET "+p.Path+f.At, "", f.Recent, "", func(r *request) error { return p.new(r, nil) })
		}
		if f.Anew != "" { // no address may have the token of its session
			add("POST "+p.Path+f.At, "", f.Recent, "", func(r *request) error { return p.new(r, nil) })
		}
		back := p.Path
		if !f.Inline {
			back += f.At
		}
		add("POST "+p.Path, f.call, f.Recent, back, p.create)
		all[len(all)-1].Inputs = f.Inputs
	}
	if p.Show != "" {
		add("GET "+one, "", false, "", func(r *request) error { return p.show(r, http.StatusOK, "") })
	}
	if f := p.Edit; f != nil && f.Review {
		add("GET "+one+"/edit", "", f.Recent, "", func(r *request) error { return p.edit(r, nil) })
		add("POST "+one+"/edit", f.call, f.Recent, "", p.change)
	} else if f != nil {
		add("POST "+one, f.call, f.Recent, p.Path, p.change)
	}
	if f := p.Edit; f != nil {
		all[len(all)-1].Inputs = f.Inputs
	}
	for _, a := range p.Actions {
		ask, act := func(r *request) error { return p.ask(r, a) }, func(r *request) error { return p.act(r, a) }
		if a.Owners {
			ask, act = owning(ask), owning(act)
		}
		back, call := p.Path, ""
		if a.Ask != nil {
			back = ""
			add("GET "+one+"/"+a.Name, "", a.Recent, "", ask)
		}
		if a.Method != "" {
			call = a.Method + " " + p.One + a.API
		}
		if call != "" || a.Do != nil {
			add("POST "+one+"/"+a.Name, call, a.Recent, back, act)
		}
	}
	return all
}

var pathPart = regexp.MustCompile(`\{(\w+)\}`)

// at fills the ids of the path of a request into another path.
func (r *request) at(path string) string {
	return pathPart.ReplaceAllStringFunc(path, func(part string) string {
		return url.PathEscape(r.PathValue(part[1 : len(part)-1]))
	})
}

// one returns the path of the resource of a request.
func (p *page[T]) one(r *request) string { return r.at(p.Path + "/{" + p.ID + "}") }

// read reads the resource of a request.
func (p *page[T]) read(r *request) (one T, err error) {
	if p.Read != nil {
		return p.Read(r)
	}
	err = r.api.get(r.Context(), r.at(p.One), nil, &one)
	return one, err
}

// view returns the view of a page of the kind, with its notice.
func (p *page[T]) view(r *request, title string) *view {
	v := r.view(title, p.Active)
	v.Notice = p.Done[r.URL.Query().Get("done")]
	return v
}

// data returns what all templates of the kind get. Of are the resources of the page.
func (p *page[T]) data(r *request, of ...T) (map[string]any, error) {
	to := map[string]any{}
	if !p.Names {
		return to, nil
	}
	factories := []string{r.FormValue("factory_id")}
	for _, one := range of {
		factories = append(factories, textAt(one, "factory_id"))
	}
	n, err := r.names(factories...)
	to["Names"] = n
	return to, err
}

// filters returns the values of the filters, and the query of the list.
func (p *page[T]) filters(r *request) (given map[string]string, query url.Values) {
	names := slices.Clone(p.Filters)
	for _, in := range p.Folded {
		names = append(names, in.Name)
	}
	if given, query = r.filters(names...); p.Narrow != nil {
		p.Narrow(r, query)
	}
	return given, query
}

// folded returns the folded filters with their values.
func (p *page[T]) folded(given map[string]string) (all []shownInput) {
	for _, in := range p.Folded {
		in.Short, in.Free = true, true
		all = append(all, shownInput{input: in, Values: []string{given[in.Name]}})
	}
	return all
}

// rows reads the rows of a list, and the cursor of the next ones.
func (p *page[T]) rows(r *request, query url.Values) (all []T, next string, err error) {
	if p.Rows != nil {
		return p.Rows(r, query)
	}
	next, err = r.api.list(r.Context(), r.at(p.API), query, &all)
	return all, next, err
}

// list shows a list. The message is why a form of it did nothing.
func (p *page[T]) list(r *request, status int, message string) error {
	given, query := p.filters(r)
	all, next, err := p.rows(r, query)
	found, err := refused(err)
	if err != nil {
		return err
	}
	to, err := p.data(r, all...)
	if err != nil {
		return err
	}
	if given["state"] != "" {
		forgetCorner(r) // its number is that of this list
	}
	v := p.view(r, p.Title)
	if v.Error = message; found != nil {
		v.mend(found)
	}
	maps.Copy(to, map[string]any{"List": p, "Rows": all, "More": r.more(next), "Filters": given,
		"Folded": p.folded(given)})
	if p.More != nil {
		if err := p.More(r, v, all, to); err != nil {
			return err
		}
	}
	if f := p.Create; f != nil && f.Inline {
		to["Form"] = f.shown(p.Path, "", f.sent(r), to)
	}
	v.Data = to
	return r.show(status, p.List, v)
}

// show shows one resource. The message is why a form of it did nothing.
func (p *page[T]) show(r *request, status int, message string) error {
	one, err := p.read(r)
	if err != nil {
		return err
	}
	to, err := p.data(r, one)
	if err != nil {
		return err
	}
	v := p.view(r, p.Heading)
	if p.Heading == "" {
		v.Title = p.Name(one)
	}
	v.Error = message
	if f := p.Edit; f != nil && !f.Review {
		d := f.of(one)
		if sent := f.sent(r); r.Method == http.MethodPost && len(sent) > 0 {
			d = sent
		}
		to["Form"] = f.shown(p.one(r), textAt(one, "version"), d, to)
	}
	to["One"] = one
	if p.Below != nil {
		if err := p.Below(r, v, one, to); err != nil {
			return err
		}
	}
	v.Data = to
	return r.show(status, p.Show, v)
}

// refuse shows the page of a form again, with what to mend in it.
func (p *page[T]) refuse(r *request, status int, found fieldErrors) error {
	if r.found = found; p.Show == "" || r.PathValue(p.ID) == "" {
		return p.list(r, status, found.message())
	}
	return p.show(r, status, found.message())
}

// new shows the form of a new resource.
func (p *page[T]) new(r *request, found fieldErrors) error {
	to, err := p.data(r)
	if err != nil {
		return err
	}
	f, d := p.Create, p.Create.sent(r)
	v := p.view(r, f.Title)
	v.mend(found)
	if f.Add != nil {
		to["Draft"] = d
		if err := f.Add(r, v, to); err != nil {
			return err
		}
	}
	to["Form"] = f.shown(p.Path, "", d, to)
	to["Back"] = choice{p.Path, p.Title}
	v.Data = to
	return r.show(faulty(found), cmp.Or(f.Template, "form"), v)
}

// create makes a resource of the form.
func (p *page[T]) create(r *request) error {
	f := p.Create
	refuse := func(found fieldErrors) error {
		if f.Inline {
			return p.refuse(r, http.StatusUnprocessableEntity, found)
		}
		return p.new(r, found)
	}
	d := f.sent(r)
	body, found := f.body(d)
	if found == nil && f.Fill != nil {
		found = f.Fill(r, d, body)
	}
	if found != nil {
		return refuse(found)
	}
	var made T
	err := r.api.change(r.Context(), http.MethodPost, r.at(p.API), r.once(), body, &made)
	if found, err = refused(err); err != nil {
		return err
	} else if found != nil {
		return refuse(found)
	}
	if f.Made != nil {
		return f.Made(r, made)
	}
	to := p.Path
	if p.Show != "" {
		to += "/" + url.PathEscape(textAt(made, "id"))
	}
	return r.redirect(to + "?done=created")
}

// edit shows the form of a change that is reviewed. It has what was sent, if something was.
func (p *page[T]) edit(r *request, found fieldErrors) error {
	one, err := p.read(r)
	if err != nil {
		return err
	}
	f := p.Edit
	d, version := f.of(one), textAt(one, "version")
	if r.Method == http.MethodPost {
		d, version = f.sent(r), r.PostFormValue("version")
	}
	v := p.view(r, f.Title)
	v.mend(found)
	to := map[string]any{"One": one, "Draft": d}
	if f.Add != nil {
		if err := f.Add(r, v, to); err != nil {
			return err
		}
	}
	shown := f.shown(p.one(r)+"/edit", version, d, to)
	for i, in := range shown.Inputs {
		if text, ok := f.fixed(one)[in.Name]; ok {
			shown.Inputs[i].Fixed = &text
		}
	}
	to["Form"], to["Back"] = shown, choice{p.one(r), p.Name(one)}
	v.Data = to
	return r.show(faulty(found), cmp.Or(f.Template, "form"), v)
}

// change changes a resource by the form. A change that is reviewed is listed first.
func (p *page[T]) change(r *request) error {
	one, err := p.read(r)
	if err != nil {
		return err
	}
	f, d, step := p.Edit, p.Edit.sent(r), r.PostFormValue("step")
	refuse := func(found fieldErrors) error {
		if f.Review {
			return p.edit(r, found)
		}
		return p.refuse(r, http.StatusUnprocessableEntity, found)
	}
	before := f.of(one)
	for name := range f.fixed(one) {
		d[name] = before[name]
	}
	patch, found := f.patch(before, d)
	switch {
	case f.Patch != nil:
		patch = f.Patch(r)
	case f.Method == http.MethodPut:
		patch, found = f.whole(r, d)
	}
	switch {
	case f.Review && step == stepBack, f.Anew != "" && r.PostFormValue(f.Anew) != "":
		return p.edit(r, nil)
	case found != nil:
		return refuse(found)
	case f.Review && len(patch) == 0:
		return refuse(about("", messageNoChange))
	case f.Review && step != stepSave:
		return propose(r, f.proposal(p.view(r, ""), p.Name(one), before, d, patch))
	}
	a := r.api
	a.version = r.PostFormValue("version")
	err = a.change(r.Context(), f.Method, r.at(p.One), r.once(), patch, nil)
	if found, err = refused(err); err != nil {
		return err
	} else if found != nil {
		return refuse(found)
	}
	return r.redirect(p.after(r) + "?done=changed")
}

// ask shows the page that asks before an action.
func (p *page[T]) ask(r *request, a action[T]) error {
	c, err := p.question(r, a)
	if err != nil {
		return err
	}
	return r.confirm(http.StatusOK, c, "")
}

// question returns what is asked before an action.
func (p *page[T]) question(r *request, a action[T]) (c confirmation, err error) {
	one, err := p.read(r)
	if err != nil {
		return c, err
	}
	c = *a.Ask
	v := p.view(r, "")
	c.Subject, c.Active, c.Back = p.Name(one), cmp.Or(c.Active, v.Active), r.back(p.after(r))
	if a.Typed {
		c.Name = c.Subject
	}
	if a.Text != nil {
		c.Text = a.Text(one)
	}
	if a.Fields != nil {
		c.Fields = a.Fields(r, one)
	}
	if c.Action != "" {
		c.Action = p.one(r) + c.Action
	}
	if a.Choice != nil {
		c.Choice, err = a.Choice(r, v, one)
	}
	if a.Effects != nil && err == nil {
		c.Effects, err = a.Effects(r, v, one)
	}
	return c, err
}

// after returns where a form about a resource leads: to its page, or to the list if it has none.
func (p *page[T]) after(r *request) string {
	if p.Show == "" {
		return r.at(p.Path)
	}
	return p.one(r)
}

// act does what a form asks for.
func (p *page[T]) act(r *request, a action[T]) error {
	if a.Typed {
		c, err := p.question(r, a)
		if err != nil {
			return err
		}
		return confirmed(r, c, func() error { return p.call(r, a) })
	}
	return p.call(r, a)
}

// change calls what an action changes.
func (a action[T]) change(r *request, path string) (made T, err error) {
	if a.Do != nil {
		return made, a.Do(r)
	}
	var body, into any
	if a.Body != nil {
		if body, err = a.Body(r); err != nil {
			return made, err
		}
	}
	if a.Then != nil {
		into = &made
	}
	of := r.api
	of.version = r.PostFormValue("version")
	return made, of.change(r.Context(), a.Method, r.at(path+a.API), r.once(), body, into)
}

func (p *page[T]) call(r *request, a action[T]) error {
	made, err := a.change(r, p.One)
	if found, other := refused(err); other != nil {
		return other
	} else if found != nil {
		return p.refuse(r, statusOf(err), found)
	}
	switch {
	case a.Then != nil:
		return a.Then(r, made)
	case a.To != "":
		return r.redirect(r.at(a.To))
	case own(r.PostFormValue("return")):
		return r.redirect(r.PostFormValue("return"))
	}
	to := p.after(r)
	if a.ToList {
		to = r.at(p.Path)
	}
	if done := cmp.Or(a.Done, r.PostFormValue("state")); done != "" {
		to += "?done=" + url.QueryEscape(done)
	}
	return r.redirect(to)
}
