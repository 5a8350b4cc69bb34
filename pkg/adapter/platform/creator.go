package platform

import "context"

// Creator is what a platform allows an account to choose for its next post.
type Creator struct {
	Username, Nickname, AvatarURL string
	Privacies                     []Privacy
	// Comments, Duet and Stitch report whether the creator permits them.
	Comments, Duet, Stitch bool
	MaxVideoSeconds        int64
	// Full reports that the creator may make no more posts for now.
	Full bool
}

// CreatorReader is a platform whose rules ask for choices of the person who posts.
type CreatorReader interface {
	// CreatorInfo reads what an account may choose now. The error is of any kind except Unknown and Restart.
	CreatorInfo(ctx context.Context, a Account) (Creator, error)
}
