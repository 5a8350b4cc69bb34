package publishing

import (
	"context"
	"maps"
	"slices"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// links lists the links. Their states follow from the clock and from their makers, which no index knows: more is read
// until the page is full, or has read enough.
func (s *Service) links(ctx context.Context, in *linksInput) (page httpapi.Page[ReviewLink], err error) {
	read := *in
	for range mostLinkReads {
		found, err := s.readLinks(ctx, &read)
		if err != nil {
			return page, err
		}
		for _, l := range found.Items {
			if len(in.State) == 0 || slices.Contains(in.State, l.State) {
				page.Items = append(page.Items, l)
			}
		}
		page.Next, read.Cursor = found.Next, found.Next
		if read.Limit = in.Limit - len(page.Items); found.Next == "" || read.Limit == 0 {
			break
		}
	}
	return page, nil
}

// mostLinkReads bounds the reads of one page of links.
const mostLinkReads = 5

// readLinks reads a page of links in any state.
func (s *Service) readLinks(ctx context.Context, in *linksInput) (httpapi.Page[ReviewLink], error) {
	q := httpapi.AllOwned(ctx, linkKind, in.Filter.Into(nil))
	if len(in.State) > 0 { // no item has it, and still a cursor belongs to a list of states
		q.Judged = map[string][]string{"state": slices.Sorted(slices.Values(in.State))}
	}
	in.Tagged.Into(&q)
	if q.Contains == nil {
		q.Contains = map[string][]string{}
	}
	if in.FactoryID != "" {
		q.Contains[factoriesFilter] = []string{mark + in.FactoryID}
	}
	if in.ItemID != "" {
		q.Contains[itemsFilter] = []string{mark + in.ItemID}
	}
	var all []linkRecord
	var owners []tenant.Owner
	page, err := httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (ReviewLink, error) {
		var l linkRecord
		err := it.Decode(&l)
		all, owners = append(all, l), append(owners, it.Owner)
		return l.ReviewLink, err
	})
	if err != nil || len(all) == 0 {
		return page, err
	}
	makers := map[store.Key]store.Item{}
	for i, l := range all {
		makers[l.Authority.Key(owners[i].Account)] = store.Item{}
	}
	keys := slices.Collect(maps.Keys(makers))
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return page, err
	}
	for i, key := range keys {
		makers[key] = items[i]
	}
	for i := range page.Items {
		page.Items[i], err = all[i].at(s.now(), owners[i], makers[all[i].Authority.Key(owners[i].Account)])
		if err != nil {
			return page, err
		}
	}
	return page, nil
}
