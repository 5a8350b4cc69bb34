package content

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

const (
	// moderateWithin bounds the time of a moderation, for which the caller waits.
	moderateWithin = 10 * time.Second
	// moderatedAtOnce is the number of requests at the same time, and moderatedBytes the size of the texts of one.
	moderatedAtOnce = 8
	moderatedBytes  = 10_000
)

// moderator moderates the texts of live keys. It moderates none if it has no provider.
type moderator struct{ provider.Moderator }

// Moderated has the own texts of live keys moderated. Without a moderator, none are.
func (s *Service) Moderated(m provider.Moderator) *Service {
	s.moderator = moderator{m}
	return s
}

// own is a text written by the caller, and the member it came from.
type own struct{ param, text string }

// owns are the texts of a body.
type owns []own

func (o *owns) add(param string, texts ...string) {
	if text := strings.TrimSpace(strings.Join(texts, " ")); text != "" {
		*o = append(*o, own{param, text})
	}
}

// variant adds the texts of a variant.
func (o *owns) variant(key string, v item.Variant) {
	at := "/variants/" + key
	if v.Title != nil {
		o.add(at+"/title", *v.Title)
	}
	if v.Caption != nil {
		o.add(at+"/caption", *v.Caption)
	}
	o.add(at+"/hashtags", v.Hashtags...)
}

// own returns the texts of a new item that are published.
func (b *createBody) own() (all owns) {
	all = b.Texts.own()
	given := b.Variants.items()
	for _, key := range slices.Sorted(maps.Keys(given)) {
		all.variant(key, given[key])
	}
	return all
}

// own returns the texts that differ from others.
func (t texts) own(was texts) (all owns) {
	for _, text := range bodyTexts {
		name := item.Text(text.name)
		if now, before := t.Plain(name), was.Plain(name); now != nil && *now != *before {
			all.add("/"+text.name, string(*now))
		}
	}
	if !slices.Equal(t.Hashtags, was.Hashtags) {
		all.add("/hashtags", t.Hashtags...)
	}
	for _, key := range slices.Sorted(maps.Keys(t.Variants)) {
		v, before := t.Variants[key], was.Variants[key]
		if same(v.Title, before.Title) {
			v.Title = nil
		}
		if same(v.Caption, before.Caption) {
			v.Caption = nil
		}
		if slices.Equal(v.Hashtags, before.Hashtags) {
			v.Hashtags = nil
		}
		all.variant(key, v)
	}
	return all
}

func same(a, b *string) bool { return a == nil || b != nil && *a == *b }

// ModerateCaption refuses a caption that the moderation stops, as creating an item does.
func (s *Service) ModerateCaption(ctx context.Context, mode tenant.Mode, caption string) error {
	return s.moderator.check(ctx, mode, owns{{"/caption", caption}})
}

// check refuses texts that the moderation stops, before anything is stored or reserved. The refusal names them.
func (m moderator) check(ctx context.Context, mode tenant.Mode, all owns) error {
	if m.Moderator == nil || mode != tenant.Live || len(all) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, moderateWithin)
	defer cancel()
	var parts []owns
	size := 0
	for _, o := range all {
		if size += len(o.text); len(parts) == 0 || size > moderatedBytes {
			parts, size = append(parts, nil), len(o.text)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], o)
	}
	stopped, err := m.flagged(ctx, parts)
	if err != nil || len(stopped) == 0 {
		return err
	}
	var found []errs.Detail
	for _, part := range stopped {
		alone := make([]owns, len(part))
		for i, o := range part {
			alone[i] = owns{o}
		}
		why := "was stopped by the moderation of texts. Change it"
		if named, err := m.flagged(ctx, alone); err != nil {
			return err
		} else if len(named) > 0 {
			alone = named
		} else {
			why = "was stopped by the moderation of texts, together with others. Change them"
		}
		for _, o := range alone {
			found = append(found, errs.Detail{Param: o[0].param, Message: why})
		}
	}
	return errs.InvalidFields(found...)
}

// checkAll is check for the items of a batch.
func (m moderator) checkAll(ctx context.Context, mode tenant.Mode, bodies []createBody) error {
	var all owns
	for i := range bodies {
		for _, o := range bodies[i].own() {
			all = append(all, own{fmt.Sprintf("/items/%d%s", i, o.param), o.text})
		}
	}
	return m.check(ctx, mode, all)
}

// flagged returns the parts that the moderation stops.
func (m moderator) flagged(ctx context.Context, parts []owns) (stopped []owns, err error) {
	flags := make([]bool, len(parts))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(moderatedAtOnce)
	for i, part := range parts {
		group.Go(func() (err error) {
			texts := make([]string, len(part))
			for i, o := range part {
				texts[i] = o.text
			}
			flags[i], err = m.Moderate(ctx, strings.Join(texts, "\n"))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errs.Wrap(err, errs.ProviderUnavailable, "The texts could not be moderated, and nothing was "+
			"stored. Send the call again.")
	}
	for i, flag := range flags {
		if flag {
			stopped = append(stopped, parts[i])
		}
	}
	return stopped, nil
}
