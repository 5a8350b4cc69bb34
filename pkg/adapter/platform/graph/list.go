package graph

import (
	"context"
	"fmt"
	"net/url"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// mostLists bounds the pages of a list, each of perList entries, the most that Meta sends.
const (
	mostLists = 50
	perList   = "100"
)

// Paging says how a list goes on.
type Paging struct {
	Next    string `json:"next"`
	Cursors struct {
		After string `json:"after"`
	} `json:"cursors"`
}

// Cursor returns the cursor of the next page, or an empty one after the last page, which has a cursor too. The address
// of the next page is not called, because it has the access token in it.
func (p Paging) Cursor() string {
	if p.Next == "" {
		return ""
	}
	if p.Cursors.After != "" {
		return p.Cursors.After
	}
	next, err := url.Parse(p.Next)
	if err != nil {
		return ""
	}
	return next.Query().Get("after")
}

// list is a page of a list.
type list[T any] struct {
	Data   []T    `json:"data"`
	Paging Paging `json:"paging"`
}

// rest returns the entries of a list after its first page.
func rest[T any](ctx context.Context, g API, token platform.Secret, path, fields string, first Paging) (all []T,
	err error) {
	after := first.Cursor()
	for range mostLists - 1 {
		if after == "" {
			return all, nil
		}
		var page list[T]
		if err := g.Get(ctx, token, path, url.Values{"fields": {fields}, "limit": {perList}, "after": {after}},
			&page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		before := after
		if after = page.Paging.Cursor(); after == before {
			return nil, platform.Busy().Because(fmt.Errorf("the list %s goes on at the same cursor", path))
		}
	}
	if after != "" {
		return nil, platform.Reject(platform.CodeUnsupported, fmt.Sprintf("%s lists more than %d pages of %s entries.",
			g.Refusals.Label, mostLists, perList)).Because(fmt.Errorf("the list %s is too long", path))
	}
	return all, nil
}

// entries returns the entries of a list.
func entries[T any](ctx context.Context, g API, token platform.Secret, path, fields string) ([]T, error) {
	var first list[T]
	err := g.Get(ctx, token, path, url.Values{"fields": {fields}, "limit": {perList}}, &first)
	if err != nil {
		return nil, err
	}
	more, err := rest[T](ctx, g, token, path, fields, first.Paging)
	return append(first.Data, more...), err
}

// portfolio is a business portfolio with the first of its pages: those that it owns, and those that others have given
// it to work on.
type portfolio[T any] struct {
	ID     string  `json:"id"`
	Owned  list[T] `json:"owned_pages"`
	Client list[T] `json:"client_pages"`
}

// Pages returns the pages of a login and those of its business portfolios, which the first list lacks. A page may be in
// several lists. The field tasks is one of the first list alone.
func Pages[T any](ctx context.Context, g API, token platform.Secret, fields string) ([]T, error) {
	all, err := entries[T](ctx, g, token, "/me/accounts", fields+",tasks")
	if err != nil {
		return nil, err
	}
	const owned, client = "owned_pages", "client_pages"
	of := func(edge string) string { return "," + edge + ".limit(" + perList + "){" + fields + "}" }
	portfolios, err := entries[portfolio[T]](ctx, g, token, "/me/businesses", "id"+of(owned)+of(client))
	if platform.Untold(err) { // a portfolio may refuse the pages of others
		portfolios, err = entries[portfolio[T]](ctx, g, token, "/me/businesses", "id"+of(owned))
	}
	if platform.Untold(err) {
		return all, nil // the owner has no portfolios
	}
	if err != nil {
		return nil, err
	}
	for _, b := range portfolios {
		for _, edge := range []struct {
			name  string
			first list[T]
		}{{owned, b.Owned}, {client, b.Client}} {
			all = append(all, edge.first.Data...)
			if !Number(b.ID) {
				continue
			}
			more, err := rest[T](ctx, g, token, "/"+b.ID+"/"+edge.name, fields, edge.first.Paging)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	return all, nil
}
