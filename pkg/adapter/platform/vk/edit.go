package vk

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// attachment is a file of a post.
type attachment struct {
	Type  string `json:"type"`
	Photo *file  `json:"photo"`
	Video *file  `json:"video"`
}

type file struct {
	ID     int64  `json:"id"`
	Owner  int64  `json:"owner_id"`
	Access string `json:"access_key"`
}

// name returns the name of a file in calls.
func (a attachment) name() string {
	f := a.Photo
	if a.Type == "video" {
		f = a.Video
	}
	if f == nil {
		return ""
	}
	name := fmt.Sprintf("%s%d_%d", a.Type, f.Owner, f.ID)
	if f.Access != "" {
		name += "_" + f.Access
	}
	return name
}

// Edit implements platform.Editor. VK replaces the text and the files together, so the files are read first.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.Placed, text string) error {
	params := url.Values{"owner_id": {a.ID}, "post_id": {post.ID}, "message": {text}}
	if post.Media > 0 {
		found, files, err := p.read(ctx, a, post)
		if err != nil {
			return err
		}
		if !found {
			return platform.Reject(platform.CodePostNotFound, "VK does not have the post.")
		}
		if len(files) != post.Media {
			return platform.Reject(platform.CodeContentRefused, "The files of the post were changed on VK. Change "+
				"its text there.")
		}
		params.Set("attachments", strings.Join(files, ","))
	}
	return p.call(ctx, a, "wall.edit", params, false, &struct{}{})
}

// Delete implements platform.Deleter. VK refuses the deletion of a post that does not exist, so that a refusal is
// followed by a look for the post.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	var done int
	err := p.call(ctx, a, "wall.delete", url.Values{"owner_id": {a.ID}, "post_id": {post.ID}}, false, &done)
	var refused *platform.Error
	if !errors.As(err, &refused) || !refused.Kind.Final() && refused.Kind != platform.Unclear ||
		a.Token.Refresh == "" {
		return err
	}
	if found, _, failed := p.read(ctx, a, post); failed != nil || found {
		return err
	}
	return nil
}

// read reports whether a post exists, and returns the names of its files.
func (p *Platform) read(ctx context.Context, a platform.Account, post platform.Placed) (found bool, files []string,
	err error) {
	var answer struct {
		Items []struct {
			Deleted     bool         `json:"is_deleted"`
			Attachments []attachment `json:"attachments"`
		} `json:"items"`
	}
	if err := p.call(ctx, a, "wall.getById", url.Values{"posts": {a.ID + "_" + post.ID}}, false, &answer); err != nil {
		return false, nil, err
	}
	if len(answer.Items) == 0 || answer.Items[0].Deleted {
		return false, nil, nil
	}
	for _, f := range answer.Items[0].Attachments {
		if name := f.name(); name != "" {
			files = append(files, name)
		}
	}
	return true, files, nil
}
