package provider

import "context"

// OnNotice has f receive the notices of the guest in place of the subscribers. No call has begun.
func (p *Provider) OnNotice(f func(ctx context.Context, uri string)) { p.host.Notify = f }

// Changed is what a notice of the guest does.
func (p *Provider) Changed(uri string) { p.broker.Publish(context.Background(), uri) }
