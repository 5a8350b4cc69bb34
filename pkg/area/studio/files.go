package studio

import (
	"context"
	"time"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// files are the files that an input refers to.
type files struct {
	incoming.Given
	// media are the files of the caller's media, by the members that have their ids.
	media map[string]media.File
}

// spoken is the length of the recording of the caller's media, if the input refers to one.
func (f files) spoken() time.Duration {
	return time.Duration(f.media[AudioMember].DurationSeconds * float64(time.Second))
}

// files looks up the files that an input refers to, by URL or by the id of a media, and refuses those that cannot be
// used. It reads other items in the same round trip. Prefix is the place of the input in the body.
func (s *Service) files(ctx context.Context, o tenant.Owner, in Input, prefix string,
	others []store.Key) (files, error) {
	types := map[string]media.Type{ImageMember: media.Image, AudioMember: media.Audio,
		VideoMember: media.Video}
	var members []incoming.Member
	var names []string
	for _, name := range []string{ImageMember, AudioMember, VideoMember} {
		if value := *in.File(name); value != "" {
			members, names = append(members, incoming.Member{Param: prefix + "/" + name, Value: value,
				Type: types[name]}), append(names, name)
		}
	}
	given, err := incoming.Read(ctx, s.db, members, others...)
	if err != nil {
		return files{}, err
	}
	given = given.For(o)
	out := files{given, map[string]media.File{}}
	for i, m := range members {
		if m.IsID() {
			out.media[names[i]], err = given.File(m)
		} else {
			err = safehttp.InvalidURL(s.urls.CheckURL(ctx, m.Value), m.Param)
		}
		if err != nil {
			return files{}, err
		}
	}
	return out, nil
}
