DROP INDEX "ix_call_recordings_transcribing";--> statement-breakpoint
DROP INDEX "ix_voicemails_transcribing";--> statement-breakpoint
ALTER TABLE "calls" ADD COLUMN "worked_on_by" text;--> statement-breakpoint
ALTER TABLE "calls" ADD COLUMN "worked_on_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "ix_call_recordings_transcribing" ON "call_recordings" USING btree ("account_id","stored_at") WHERE "call_recordings"."transcription_status" in ('none', 'started') and "call_recordings"."transcription_job" is not null;--> statement-breakpoint
CREATE INDEX "ix_voicemails_transcribing" ON "voicemails" USING btree ("account_id","stored_at") WHERE "voicemails"."transcription_status" in ('none', 'started') and "voicemails"."transcription_job" is not null;