package tenant

import (
	"context"
	"slices"
)

// Profile is the id of a profile: a client of an agency. Data without one belongs to the account as a whole.
type Profile string

type boundsKey struct{}

// Confine returns a context in which the store shows and takes only the data of the profiles. It is the one place where
// a call is held within profiles.
func Confine(ctx context.Context, profiles []Profile) context.Context {
	return context.WithValue(ctx, boundsKey{}, profiles)
}

// Unconfined returns a context in which the store shows all data. It is for records of the service itself, such as
// remembered answers, which are found by the caller and not by a resource.
func Unconfined(ctx context.Context) context.Context {
	return context.WithValue(ctx, boundsKey{}, []Profile(nil))
}

// Bounds returns the profiles that a context is confined to. Without any, it is not confined.
func Bounds(ctx context.Context) []Profile {
	profiles, _ := ctx.Value(boundsKey{}).([]Profile)
	return profiles
}

// Visible reports whether data of the owner is within the bounds of the context. Records of an account itself, such as
// its balance, have no mode, and are within all bounds.
func (o Owner) Visible(ctx context.Context) bool {
	bounds := Bounds(ctx)
	return len(bounds) == 0 || o.Mode == "" || slices.Contains(bounds, o.Profile)
}
